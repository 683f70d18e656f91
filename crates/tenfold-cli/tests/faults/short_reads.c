/* Loaded before the program: reads of files give fewer bytes than were asked for, as the system may. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long state;

__attribute__((constructor)) static void seed(void) {
    const char *text = getenv("SHORT_READS");
    state = text ? strtoul(text, NULL, 10) : 0;
}

/* Pipes and events have messages that are read whole; they have no position. */
static size_t fewer(int fd, size_t len) {
    if (len < 2 || syscall(SYS_lseek, fd, 0, SEEK_CUR) < 0) {
        return len;
    }
    unsigned long mixed = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ul, __ATOMIC_RELAXED);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ul;
    mixed ^= mixed >> 27;
    return 1 + mixed % len;
}

ssize_t read(int fd, void *buffer, size_t len) {
    return syscall(SYS_read, fd, buffer, fewer(fd, len));
}

ssize_t pread64(int fd, void *buffer, size_t len, off64_t at) {
    return syscall(SYS_pread64, fd, buffer, fewer(fd, len), at);
}

ssize_t pread(int fd, void *buffer, size_t len, off_t at) {
    return syscall(SYS_pread64, fd, buffer, fewer(fd, len), at);
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags) {
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, fewer(from, len), flags);
}
