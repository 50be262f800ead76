/*
 * One file that is a disk, and a log of what is done to it: each write with its bytes, each flush, and each mark that the
 * test makes meanwhile, in their order. Usage: block-disk IMAGE LOG MOUNTPOINT
 *
 * Log entries: one byte of kind (W, F, M), offset and length as 64-bit little-endian integers, then the bytes.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int image, record;

static void note(char kind, uint64_t offset, uint64_t length, const char *bytes) {
  char head[17] = {kind};
  memcpy(head + 1, &offset, 8);
  memcpy(head + 9, &length, 8);
  if (write(record, head, 17) != 17 || (length > 0 && write(record, bytes, length) != (ssize_t)length)) _exit(1);
}

static int is_disk(const char *path) { return strcmp(path, "/disk") == 0; }
static int is_mark(const char *path) { return strcmp(path, "/mark") == 0; }

static int disk_getattr(const char *path, struct stat *out, struct fuse_file_info *info) {
  (void)info;
  memset(out, 0, sizeof *out);
  if (strcmp(path, "/") == 0) {
    out->st_mode = S_IFDIR | 0700;
    out->st_nlink = 2;
    return 0;
  }
  if (!is_disk(path) && !is_mark(path)) return -ENOENT;
  out->st_mode = S_IFREG | 0600;
  out->st_nlink = 1;
  if (is_disk(path)) out->st_size = lseek(image, 0, SEEK_END);
  return 0;
}

static int disk_open(const char *path, struct fuse_file_info *info) {
  info->direct_io = 1;
  return is_disk(path) || is_mark(path) ? 0 : -ENOENT;
}

static int disk_read(const char *path, char *out, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)info;
  if (!is_disk(path)) return 0;
  ssize_t got = pread(image, out, size, offset);
  return got < 0 ? -errno : (int)got;
}

static int disk_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)info;
  if (is_disk(path) && pwrite(image, bytes, size, offset) != (ssize_t)size) return -EIO;
  note(is_disk(path) ? 'W' : 'M', offset, size, bytes);
  return (int)size;
}

static int disk_fsync(const char *path, int data_only, struct fuse_file_info *info) {
  (void)data_only;
  (void)info;
  if (is_disk(path)) note('F', 0, 0, NULL);
  return 0;
}

static int disk_truncate(const char *path, off_t size, struct fuse_file_info *info) {
  (void)path;
  (void)size;
  (void)info;
  return 0;
}

static const struct fuse_operations operations = {
    .getattr = disk_getattr,
    .open = disk_open,
    .read = disk_read,
    .write = disk_write,
    .fsync = disk_fsync,
    .truncate = disk_truncate,
};

int main(int count, char **arguments) {
  if (count != 4) return 2;
  image = open(arguments[1], O_RDWR);
  record = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (image < 0 || record < 0) return 1;
  char *fuse_arguments[] = {arguments[0], "-f", "-s", arguments[3]};
  return fuse_main(4, fuse_arguments, &operations, NULL);
}
