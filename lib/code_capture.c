/* Captures of code: the backend gives kernels with their images, the library
 * keeps each image once. What is in an image is nothing to it. */
#include "demangle.h"
#include "device.h"
#include "error.h"
#include "result.h"
#include "rows.h"
#include "structs.h"

#include <kmb/code.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct code_image {
  void *bytes;
  uint64_t size;
  char hash[KMB_CODE_HASH_SIZE];
  const char *file; /* once all are known */
} code_image;

typedef struct code_row {
  kmb_code_kernel kernel;
  uint32_t image; /* KMBI_NO_ROW: none */
  uint32_t unused;
  char code_hash[KMB_CODE_HASH_SIZE]; /* "": not known */
} code_row;

struct kmb_code {
  kmbi_code_head head;
  kmbi_memory memory;
  kmbi_arena texts;
  kmbi_rows kernels, images; /* code_row, code_image */
  kmb_code_info info;
};

static void set_in_result(kmb_result *result, const kmb_code *code);

static kmb_code *create(const kmbi_memory *memory) {
  kmb_code *code = kmbi_alloc(memory, 1, sizeof *code);
  if (!code) {
    kmbi_fail(KMB_ERR_NOMEM, "no memory for a capture of code");
    return NULL;
  }
  code->head.set = set_in_result;
  code->memory = *memory;
  code->info = kmb_code_info_init();
  kmbi_arena_init(&code->texts, &code->memory);
  kmbi_rows_init(&code->kernels, &code->memory, sizeof(code_row));
  kmbi_rows_init(&code->images, &code->memory, sizeof(code_image));
  return code;
}

void kmb_code_destroy(kmb_code *code) {
  if (!code) return;
  const kmbi_memory memory = code->memory;
  for (uint32_t i = 0; i < code->images.count; i++) {
    const code_image *image = kmbi_rows_at(&code->images, i);
    kmbi_free(&memory, image->bytes, 1, (size_t)image->size);
  }
  kmbi_rows_release(&code->images);
  kmbi_rows_release(&code->kernels);
  kmbi_arena_release(&code->texts);
  kmbi_free(&memory, code, 1, sizeof *code);
}

/* Taking. */

/* The row of an image, a new one if it is not known; KMBI_NO_ROW without
 * memory. */
static uint32_t keep_image(kmb_code *code, const void *bytes, uint64_t size) {
  code_image fresh = {.size = size};
  if (size > SIZE_MAX || kmb_code_hash(bytes, size, fresh.hash))
    return KMBI_NO_ROW;
  for (uint32_t i = 0; i < code->images.count; i++) {
    const code_image *image = kmbi_rows_at(&code->images, i);
    if (strcmp(image->hash, fresh.hash) == 0) return i;
  }
  fresh.bytes = kmbi_alloc(&code->memory, 1, (size_t)size);
  code_image *row = fresh.bytes ? kmbi_rows_add(&code->images) : NULL;
  if (!row) {
    if (fresh.bytes) kmbi_free(&code->memory, fresh.bytes, 1, (size_t)size);
    return KMBI_NO_ROW;
  }
  memcpy(fresh.bytes, bytes, (size_t)size);
  *row = fresh;
  return code->images.count - 1;
}

/* Of the instructions alone; what is said to stand beyond the image is not
 * believed. */
static void hash_code(code_row *row, const void *image, uint64_t size) {
  uint64_t offset = row->kernel.code_offset, bytes = row->kernel.code_bytes;
  if (image && bytes && offset <= size && bytes <= size - offset &&
      !kmb_code_hash((const char *)image + offset, bytes, row->code_hash))
    return;
  row->kernel.code_offset = row->kernel.code_bytes = 0;
}

static kmb_status take_kernel(void *ctx, const kmb_code_kernel *kernel,
                              const void *image, uint64_t bytes) {
  static const char none[] = "no memory for captured code";
  kmb_code *code = ctx;
  uint32_t index = KMBI_NO_ROW;
  if (image && bytes) {
    index = keep_image(code, image, bytes);
    if (index == KMBI_NO_ROW) return kmbi_fail(KMB_ERR_NOMEM, none);
  }
  code_row *row = kmbi_rows_add(&code->kernels);
  if (!row) return kmbi_fail(KMB_ERR_NOMEM, none);
  row->kernel = *kernel;
  row->kernel.struct_size = sizeof row->kernel;
  row->kernel.name =
      kmbi_arena_copy(&code->texts, kernel->name ? kernel->name : "");
  row->kernel.arch =
      kmbi_arena_copy(&code->texts, kernel->arch ? kernel->arch : "");
  row->kernel.reason = kmbi_arena_copy(&code->texts, kernel->reason);
  /* Rows may move. */
  row->kernel.hash = row->kernel.file = row->kernel.code_hash = NULL;
  row->image = index;
  hash_code(row, image, bytes);
  row->kernel.demangled =
      row->kernel.name ? kmbi_demangle(&code->texts, row->kernel.name) : NULL;
  if (kmbi_arena_failed(&code->texts)) return kmbi_fail(KMB_ERR_NOMEM, none);
  return KMB_OK;
}

static void take_info(void *ctx, const kmb_code_info *info) {
  kmb_code *code = ctx;
  code->info.images = info->images;
  code->info.graph_launches = info->graph_launches;
  code->info.elsewhere = info->elsewhere;
}

/* Names of files. */

enum { NAME_MOST = 100, DIGITS = 16, MACHINE_AT = 18, MACHINE_AMD = 224 };

static const char *first_kernel(const kmb_code *code, uint32_t image) {
  for (uint32_t i = 0; i < code->kernels.count; i++) {
    const code_row *row = kmbi_rows_at(&code->kernels, i);
    if (row->image == image) return row->kernel.name;
  }
  return "";
}

static void plain_name(const char *kernel, char name[NAME_MOST + 1]) {
  size_t size = 0;
  for (; kernel[size] && size < NAME_MOST; size++) {
    char c = kernel[size];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                 (c == '.' && size);
    name[size] = plain ? c : '_';
  }
  name[size] = '\0';
}

/* What people call such files, by the machine in an ELF file's header. */
static const char *suffix_of(const code_image *image) {
  const unsigned char *at = image->bytes;
  bool amd = image->size > MACHINE_AT + 1 && at[MACHINE_AT] == MACHINE_AMD &&
             !at[MACHINE_AT + 1];
  return amd ? "hsaco" : "cubin";
}

/* Of two images with kernels of one name both get digits of their hash. */
static const char *file_name(kmb_code *code, uint32_t index) {
  char name[NAME_MOST + 1], other[NAME_MOST + 1];
  const code_image *image = kmbi_rows_at(&code->images, index);
  const char *kernel = first_kernel(code, index);
  plain_name(kernel, name);
  bool once = *name && strlen(kernel) <= NAME_MOST;
  for (uint32_t i = 0; i < code->images.count && once; i++) {
    if (i == index) continue;
    plain_name(first_kernel(code, i), other);
    once = strcmp(name, other) != 0;
  }
  if (once)
    return kmbi_arena_format(&code->texts, "%s.%s", name, suffix_of(image));
  return kmbi_arena_format(&code->texts, "%s-%.*s.%s", name, DIGITS,
                           image->hash, suffix_of(image));
}

static kmb_status name_files(kmb_code *code) {
  for (uint32_t i = 0; i < code->images.count; i++) {
    code_image *image = kmbi_rows_at(&code->images, i);
    image->file = file_name(code, i);
  }
  code->info.kernels = code->kernels.count;
  if (!kmbi_arena_failed(&code->texts)) return KMB_OK;
  return kmbi_fail(KMB_ERR_NOMEM, "no memory for captured code");
}

/* Capturing. */

static kmb_status end(kmb_device *device, void *capture, kmb_code *code,
                      kmb_status ran) {
  const kmb_code_sink sink = {.struct_size = sizeof sink,
                              .ctx = code,
                              .kernel = take_kernel,
                              .info = take_info};
  kmbi_error_state before;
  /* In a forked child the callback may have returned. */
  bool drop = ran || device->pid != getpid();
  kmbi_error_save(&before);
  kmb_status status =
      device->ops->code_end(device->self, capture, drop ? NULL : &sink);
  if (drop) kmbi_error_restore(&before);
  if (device->pid != getpid())
    return kmbi_device_check(device, "kmb_code_capture");
  status = kmbi_device_note(device, status);
  return ran ? ran : status;
}

static kmb_status capture(kmb_device *device, kmb_code_run_fn run, void *user,
                          kmb_code *code) {
  void *taken = NULL;
  kmbi_error_state before;
  kmb_status status =
      kmbi_device_note(device, device->ops->code_begin(device->self, &taken));
  if (status) return status;
  kmbi_error_save(&before);
  kmb_status ran = run(user);
  if (ran) ran = kmbi_callback_failed(ran, &before);
  status = end(device, taken, code, ran);
  return status ? status : name_files(code);
}

/* Whatever it is, the device is free again, or dropped in a child. */
static kmb_status enter_and_capture(kmb_device *device, kmb_code_run_fn run,
                                    void *user, kmb_code **out) {
  kmb_status status = kmbi_device_enter(device, "kmb_code_capture");
  if (status) return status;
  kmb_code *code = NULL;
  if (!KMBI_HAS(device->ops, code_begin) || !KMBI_HAS(device->ops, code_end))
    status = kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "kmb_code_capture: backend %s captures no code; look at "
                       "what the compiler leaves (--save-temps)",
                       device->ops->name);
  else if (!(code = create(&device->memory)))
    status = KMB_ERR_NOMEM;
  else
    status = capture(device, run, user, code);
  if (status)
    kmb_code_destroy(code);
  else
    *out = code;
  if (device->pid == getpid())
    kmbi_device_leave(device);
  else
    kmbi_device_drop(device);
  return status;
}

kmb_status kmb_code_capture(kmb_device *device, kmb_code_run_fn run, void *user,
                            kmb_code **out) {
  if (out) *out = NULL;
  if (!out || !run)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_code_capture: %s is NULL",
                     out ? "run" : "code");
  return enter_and_capture(device, run, user, out);
}

/* Looking. */

kmb_status kmb_code_get_info(const kmb_code *code, kmb_code_info *info) {
  if (!code)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_code_get_info: code is NULL");
  return kmbi_copy_out(info, &code->info, sizeof code->info, KMBI_CODE_INFO_V1,
                       "kmb_code_info");
}

/* NULL, and said, if there is none. */
static const code_row *row_of(const kmb_code *code, uint64_t index,
                              const char *what) {
  if (code && index < code->kernels.count)
    return kmbi_rows_at(&code->kernels, (uint32_t)index);
  kmbi_fail(KMB_ERR_INVALID, "%s: %s", what,
            code ? "there is no such kernel" : "code is NULL");
  return NULL;
}

static const code_image *image_of(const kmb_code *code, const code_row *row) {
  return row->image == KMBI_NO_ROW ? NULL
                                   : kmbi_rows_at(&code->images, row->image);
}

kmb_status kmb_code_get_kernel(const kmb_code *code, uint64_t index,
                               kmb_code_kernel *kernel) {
  const code_row *row = row_of(code, index, "kmb_code_get_kernel");
  if (!row) return KMB_ERR_INVALID;
  kmb_code_kernel full = row->kernel;
  const code_image *image = image_of(code, row);
  if (image) full.hash = image->hash;
  if (image) full.file = image->file;
  if (row->code_hash[0]) full.code_hash = row->code_hash;
  return kmbi_copy_out(kernel, &full, sizeof full, KMBI_CODE_KERNEL_V1,
                       "kmb_code_kernel");
}

kmb_status kmb_code_get_image(const kmb_code *code, uint64_t index,
                              const void **out, uint64_t *bytes) {
  const code_row *row = row_of(code, index, "kmb_code_get_image");
  if (!row) return KMB_ERR_INVALID;
  if (!out || !bytes)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_code_get_image: %s is NULL",
                     out ? "bytes" : "image");
  const code_image *image = image_of(code, row);
  if (!image)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "no image of %.80s: %.150s",
                     row->kernel.name,
                     row->kernel.reason ? row->kernel.reason : "not captured");
  *out = image->bytes;
  *bytes = image->size;
  return KMB_OK;
}

static void set_in_result(kmb_result *result, const kmb_code *code) {
  kmb_code_info info = kmb_code_info_init();
  if (kmb_code_get_info(code, &info)) return;
  uint64_t count =
      info.kernels < KMBI_CODE_MOST ? info.kernels : KMBI_CODE_MOST;
  kmbi_result_set_u64(result, KMB_VALUE_CODE_OMITTED, info.kernels - count);
  kmbi_result_set_u64(result, KMB_VALUE_CODE_UNSEEN,
                      info.graph_launches + info.elsewhere);
  kmb_code_kernel *rows =
      kmbi_arena_alloc(&result->arena, (size_t)count, sizeof *rows);
  for (uint64_t i = 0; rows && i < count; i++) {
    rows[i] = kmb_code_kernel_init();
    if (kmb_code_get_kernel(code, i, &rows[i])) return;
  }
  if (rows) kmbi_result_set_kernels(result, rows, count);
}

/* Saving. */

static kmb_status write_all(int fd, const code_image *image) {
  const char *at = image->bytes;
  uint64_t left = image->size;
  while (left) {
    ssize_t put = write(fd, at, left < 1 << 30 ? (size_t)left : 1 << 30);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return KMB_ERR_IO;
    at += put;
    left -= (uint64_t)put;
  }
  return KMB_OK;
}

static kmb_status save_image(const kmb_code *code, int folder, const char *path,
                             uint32_t index) {
  const code_image *image = kmbi_rows_at(&code->images, index);
  int fd = openat(folder, image->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  0666);
  kmb_status status = fd < 0 ? KMB_ERR_IO : write_all(fd, image);
  int error = errno;
  if (fd >= 0 && close(fd) && !status) {
    status = KMB_ERR_IO;
    error = errno;
  }
  if (!status) return KMB_OK;
  return kmbi_fail(KMB_ERR_IO, "%.100s/%.100s cannot be written: errno %d",
                   path, image->file, error);
}

kmb_status kmb_code_save(const kmb_code *code, const char *folder) {
  if (!code || !folder)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_code_save: %s is NULL",
                     code ? "folder" : "code");
  if (mkdir(folder, 0777) && errno != EEXIST)
    return kmbi_fail(KMB_ERR_IO, "the folder %.150s cannot be made: errno %d",
                     folder, errno);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return kmbi_fail(KMB_ERR_IO, "the folder %.150s cannot be opened: errno %d",
                     folder, errno);
  kmb_status status = KMB_OK;
  for (uint32_t i = 0; i < code->images.count && !status; i++)
    status = save_image(code, fd, folder, i);
  close(fd);
  return status;
}
