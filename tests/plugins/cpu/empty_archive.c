/* An archive for link tests that defines nothing of use. */
int lathe_test_archive_is_linked = 1;
