/* Run calls of an object on images of memory: run_calls FILE...; prints words, words that differ, other NaNs. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void advance(void *record, int64_t first, int64_t last);

static int64_t *load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(2);
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  int64_t *content = malloc(size);
  if (!content || fread(content, 1, size, file) != (size_t)size) exit(2);
  fclose(file);
  return content;
}

static int is_nan(int64_t bits) {
  double number;
  memcpy(&number, &bits, 8);
  return isnan(number);
}

int main(int count, char **paths) {
  int64_t words = 0, different = 0, nans = 0, pattern;
  memset(&pattern, 0xa5, 8);
  for (int k = 1; k < count; k++) {
    int64_t *call = load(paths[k]), size = call[0], addressed = call[1], given = call[2], left = call[3];
    const int64_t *addresses = call + 6, *before = addresses + addressed, *after = before + given;
    int64_t *memory = aligned_alloc(64, (8 * size + 63) / 64 * 64);
    memset(memory, 0xa5, 8 * size);
    memcpy(memory, before, 8 * given);
    for (int64_t i = 0; i < addressed; i++) memory[addresses[i]] += (int64_t)memory;
    advance(memory, call[4], call[5]);
    for (int64_t i = 0; i < addressed; i++) memory[addresses[i]] -= (int64_t)memory;
    for (int64_t i = 0; i < size; i++) {
      const int64_t want = i < left ? after[i] : pattern;
      if (memory[i] == want) continue;
      if (is_nan(memory[i]) && is_nan(want)) nans++;
      else different++;
    }
    words += size;
    free(memory);
    free(call);
  }
  printf("%lld %lld %lld\n", (long long)words, (long long)different, (long long)nans);
  return 0;
}
