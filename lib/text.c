/* Text that grows. */
#include "text.h"

#include <stdio.h>

void kmbi_text_init(kmbi_text *text, const kmbi_memory *memory) {
  *text = (kmbi_text){.memory = memory};
}

void kmbi_text_release(kmbi_text *text) {
  kmbi_free(text->memory, text->data, text->capacity, 1);
  text->data = NULL;
  text->size = text->capacity = 0;
  text->failed = false;
}

static bool reserve(kmbi_text *text, size_t more) {
  if (text->failed) return false;
  if (more < text->capacity - text->size) return true;
  size_t capacity = text->capacity ? text->capacity : 128;
  while (capacity - text->size <= more) {
    if (capacity > SIZE_MAX / 2) {
      text->failed = true;
      return false;
    }
    capacity *= 2;
  }
  char *data = kmbi_alloc(text->memory, capacity, 1);
  if (!data) {
    text->failed = true;
    return false;
  }
  if (text->data) memcpy(data, text->data, text->size);
  kmbi_free(text->memory, text->data, text->capacity, 1);
  text->data = data;
  text->capacity = capacity;
  return true;
}

void kmbi_text_put_n(kmbi_text *text, const char *more, size_t size) {
  if (!reserve(text, size)) return;
  memcpy(text->data + text->size, more, size);
  text->size += size;
  text->data[text->size] = '\0';
}

void kmbi_text_put(kmbi_text *text, const char *more) {
  kmbi_text_put_n(text, more, strlen(more));
}

void kmbi_text_repeat(kmbi_text *text, char c, size_t count) {
  if (!reserve(text, count)) return;
  memset(text->data + text->size, c, count);
  text->size += count;
  text->data[text->size] = '\0';
}

void kmbi_text_format(kmbi_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0) text->failed = true;
  if (length < 0 || !reserve(text, (size_t)length)) return;
  va_start(arguments, format);
  vsnprintf(text->data + text->size, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->size += (size_t)length;
}

const char *kmbi_text_get(const kmbi_text *text) {
  return text->data && !text->failed ? text->data : "";
}
