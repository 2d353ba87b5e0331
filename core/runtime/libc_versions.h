#pragma once

/// Deploy libraries run where glibc is 2.28 or newer. Functions that later releases gave a new symbol version without a
/// new meaning are bound to the version that every release has. Included last, by the files that call them.

#if defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#if defined(__x86_64__)
#define LATHE_GLIBC_BASE "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define LATHE_GLIBC_BASE "GLIBC_2.17"
#elif defined(__arm__)
#define LATHE_GLIBC_BASE "GLIBC_2.4"
#endif
#endif

#ifdef LATHE_GLIBC_BASE
__asm__(".symver dlerror,dlerror@" LATHE_GLIBC_BASE);
__asm__(".symver dlopen,dlopen@" LATHE_GLIBC_BASE);
__asm__(".symver dlsym,dlsym@" LATHE_GLIBC_BASE);
__asm__(".symver pthread_create,pthread_create@" LATHE_GLIBC_BASE);
__asm__(".symver pthread_join,pthread_join@" LATHE_GLIBC_BASE);
#endif
