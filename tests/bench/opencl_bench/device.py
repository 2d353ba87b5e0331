"""What of OpenCL the benchmark itself needs: one device, a context, a queue in order, and buffers. By ctypes, so that it needs no compiler."""

import ctypes
import ctypes.util
import sys

import numpy as np

_ALL_TYPES, _PROCESSOR, _READ_WRITE, _COPY_HOST, _DEVICE_NAME = 0xFFFFFFFF, 2, 1, 32, 0x102B


class Device:
    """lathe-cli's device cl0: the first that is no processor, else the first."""

    def __init__(self):
        self.cl = ctypes.CDLL(ctypes.util.find_library("OpenCL") or "libOpenCL.so.1")
        for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
            getattr(self.cl, name).restype = ctypes.c_void_p
        platform, self.id = self.first()
        text = ctypes.create_string_buffer(1000)
        self.check("clGetDeviceInfo", self.id, _DEVICE_NAME, ctypes.c_size_t(1000), text, None)
        self.name = text.value.decode()
        self.check("clGetPlatformInfo", platform, 0x902, ctypes.c_size_t(1000), text, None)
        self.platform = text.value.decode()
        error = ctypes.c_int()
        self.context = ctypes.c_void_p(self.cl.clCreateContext(None, 1, ctypes.byref(self.id), None, None, ctypes.byref(error)))
        self.queue = ctypes.c_void_p(self.cl.clCreateCommandQueue(self.context, self.id, ctypes.c_uint64(0), ctypes.byref(error)))
        if not self.queue:
            sys.exit(f"no queue on {self.name}: OpenCL error {error.value}")

    def first(self):
        count, platforms = ctypes.c_uint(), (ctypes.c_void_p * 64)()
        self.check("clGetPlatformIDs", 64, platforms, ctypes.byref(count))
        for types in (_ALL_TYPES & ~_PROCESSOR, _ALL_TYPES):
            for platform in platforms[:count.value]:
                device = ctypes.c_void_p()
                if self.cl.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_uint64(types), 1, ctypes.byref(device), None) == 0:
                    return ctypes.c_void_p(platform), device
        sys.exit("no OpenCL device was found")

    def check(self, name, *arguments):
        status = getattr(self.cl, name)(*arguments)
        if status:
            sys.exit(f"{name} failed with OpenCL error {status}")

    def buffer(self, values):
        values = np.ascontiguousarray(values, dtype=np.float32)
        error = ctypes.c_int()
        made = self.cl.clCreateBuffer(self.context, ctypes.c_uint64(_READ_WRITE | _COPY_HOST), ctypes.c_size_t(values.nbytes),
                                      ctypes.c_void_p(values.ctypes.data), ctypes.byref(error))
        if not made:
            sys.exit(f"clCreateBuffer failed with OpenCL error {error.value}")
        return ctypes.c_void_p(made)

    def read(self, buffer, shape):
        values = np.empty(shape, np.float32)
        self.check("clEnqueueReadBuffer", self.queue, buffer, 1, ctypes.c_size_t(0), ctypes.c_size_t(values.nbytes),
                   ctypes.c_void_p(values.ctypes.data), 0, None, None)
        return values

    def release(self, *buffers):
        for buffer in buffers:
            self.check("clReleaseMemObject", buffer)

    def finish(self):
        self.check("clFinish", self.queue)
