/* Disturbs one process and its children from within, switched on and off while they run.
 *
 * Loaded by LD_PRELOAD. CHAOS_SWITCHES names a file that is mapped into memory, with the microseconds that
 * every operation on a regular file takes longer, whether the disk is full, and the seconds by which the
 * clock is ahead. On a full disk a write that would make a file longer fails with ENOSPC, and one within the
 * file succeeds, as on a file system without free blocks; standard streams are left alone, for they are the
 * log that is read. The clock is that of the day; the monotonic one does not jump. A wait until a time of
 * the day is translated back, since the kernel does not know of the jump.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct switches {
    volatile uint32_t delay_us;
    volatile uint32_t full;
    volatile int64_t ahead_s;
} undisturbed, *switches = &undisturbed;

__attribute__((constructor)) static void map_switches(void) {
    const char *path = getenv("CHAOS_SWITCHES");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof *switches, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED)
        switches = mapped;
}

static void wait_for_disk(void) {
    uint32_t us = switches->delay_us;
    if (us) {
        int before = errno;
        struct timespec left = {us / 1000000, (long)(us % 1000000) * 1000};
        while (nanosleep(&left, &left) && errno == EINTR)
            ;
        errno = before;
    }
}

static int is_file(int fd, struct stat *found) {
    int before = errno;
    int regular = fd > 2 && !fstat(fd, found) && S_ISREG(found->st_mode);
    errno = before;
    return regular;
}

/* Waits where the disk is slow; nonzero, with errno set, where it has no room for the write. */
static int refuse_write(int fd, off_t at, size_t size) {
    struct stat found;
    if (!(switches->delay_us | switches->full) || !is_file(fd, &found))
        return 0;
    wait_for_disk();
    if (!switches->full)
        return 0;
    if (at < 0)
        at = fcntl(fd, F_GETFL) & O_APPEND ? found.st_size : lseek(fd, 0, SEEK_CUR);
    if (at + (off_t)size <= found.st_size)
        return 0;
    errno = ENOSPC;
    return -1;
}

static void slow_down(int fd) {
    struct stat found;
    if (switches->delay_us && is_file(fd, &found))
        wait_for_disk();
}

static size_t total(const struct iovec *parts, int count) {
    size_t size = 0;
    for (int at = 0; at < count; at++)
        size += parts[at].iov_len;
    return size;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) \
        real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t read(int fd, void *into, size_t size) {
    REAL(read);
    slow_down(fd);
    return real(fd, into, size);
}

ssize_t pread(int fd, void *into, size_t size, off_t at) {
    REAL(pread);
    slow_down(fd);
    return real(fd, into, size, at);
}

ssize_t pread64(int fd, void *into, size_t size, off64_t at) {
    REAL(pread64);
    slow_down(fd);
    return real(fd, into, size, at);
}

ssize_t preadv(int fd, const struct iovec *parts, int count, off_t at) {
    REAL(preadv);
    slow_down(fd);
    return real(fd, parts, count, at);
}

ssize_t write(int fd, const void *from, size_t size) {
    REAL(write);
    return refuse_write(fd, -1, size) ? -1 : real(fd, from, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    return refuse_write(fd, -1, total(parts, count)) ? -1 : real(fd, parts, count);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
    REAL(pwrite);
    return refuse_write(fd, at, size) ? -1 : real(fd, from, size, at);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
    REAL(pwrite64);
    return refuse_write(fd, at, size) ? -1 : real(fd, from, size, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    REAL(pwritev);
    return refuse_write(fd, at, total(parts, count)) ? -1 : real(fd, parts, count, at);
}

int ftruncate(int fd, off_t size) {
    REAL(ftruncate);
    return refuse_write(fd, 0, size) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    REAL(ftruncate64);
    return refuse_write(fd, 0, size) ? -1 : real(fd, size);
}

/* Says by its value and not by errno why it failed. */
int posix_fallocate(int fd, off_t at, off_t size) {
    REAL(posix_fallocate);
    return refuse_write(fd, at, size) ? ENOSPC : real(fd, at, size);
}

int posix_fallocate64(int fd, off64_t at, off64_t size) {
    REAL(posix_fallocate64);
    return refuse_write(fd, at, size) ? ENOSPC : real(fd, at, size);
}

int fsync(int fd) {
    REAL(fsync);
    slow_down(fd);
    return real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    slow_down(fd);
    return real(fd);
}

#define OPEN(name, ...) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    } \
    REAL(name); \
    int fd = real(__VA_ARGS__, flags, mode); \
    if (fd >= 0) \
        slow_down(fd); \
    return fd

int open(const char *path, int flags, ...) { OPEN(open, path); }
int open64(const char *path, int flags, ...) { OPEN(open64, path); }
int openat(int folder, const char *path, int flags, ...) { OPEN(openat, folder, path); }
int openat64(int folder, const char *path, int flags, ...) { OPEN(openat64, folder, path); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    int failed = real(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += switches->ahead_s;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    REAL(gettimeofday);
    int failed = real(now, zone);
    if (!failed)
        now->tv_sec += switches->ahead_s;
    return failed;
}

time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME_COARSE, &found);
    if (now)
        *now = found.tv_sec;
    return found.tv_sec;
}

static const struct timespec *as_kernel_knows(const struct timespec *until, struct timespec *into) {
    if (!until || !switches->ahead_s)
        return until;
    *into = *until;
    into->tv_sec -= switches->ahead_s;
    if (into->tv_sec < 0)
        into->tv_sec = 0;
    return into;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    REAL(pthread_cond_timedwait);
    struct timespec now, into;
    clock_gettime(CLOCK_MONOTONIC, &now);
    /* A condition may be made for the monotonic clock, which counts from the start of the machine. */
    int of_day = until->tv_sec > now.tv_sec + 10 * 365 * 86400L;
    return real(condition, mutex, of_day ? as_kernel_knows(until, &into) : until);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    REAL(sem_timedwait);
    struct timespec into;
    return real(semaphore, as_kernel_knows(until, &into));
}

long syscall(long number, ...) {
    REAL(syscall);
    struct timespec into;
    long given[6];
    va_list more;
    va_start(more, number);
    for (int at = 0; at < 6; at++)
        given[at] = va_arg(more, long);
    va_end(more);
    if (number == SYS_futex && given[1] & FUTEX_CLOCK_REALTIME)
        given[3] = (long)as_kernel_knows((const struct timespec *)given[3], &into);
    return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
