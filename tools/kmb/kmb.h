/* What the subcommands share. */
#ifndef KMB_TOOLS_KMB_H
#define KMB_TOOLS_KMB_H

#include <kmb/kmb.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit statuses. */
enum {
  EXIT_DONE = 0,
  /* Wrong arguments, or something that is absent: a file that cannot be read
   * is.
   */
  EXIT_USAGE = 1,
  EXIT_FORMAT = 2, /* malformed input */
  EXIT_FAILED = 3  /* anything else */
};

/* A subcommand gets the arguments after its name. */
typedef struct subcommand {
  const char *name;
  const char *summary;
  int (*run)(int argc, char **argv);
  void (*help)(FILE *to);
  const char *exits; /* what its statuses mean */
} subcommand;

int calibrate_main(int argc, char **argv);
void calibrate_help(FILE *to);
int code_main(int argc, char **argv);
void code_help(FILE *to);
int compare_main(int argc, char **argv);
void compare_help(FILE *to);
int gaps_main(int argc, char **argv);
void gaps_help(FILE *to);
int info_main(int argc, char **argv);
void info_help(FILE *to);
int payoff_main(int argc, char **argv);
void payoff_help(FILE *to);
int peaks_main(int argc, char **argv);
void peaks_help(FILE *to);
int plot_roofline_main(int argc, char **argv);
void plot_roofline_help(FILE *to);
int plot_samples_main(int argc, char **argv);
void plot_samples_help(FILE *to);
int plot_timeline_main(int argc, char **argv);
void plot_timeline_help(FILE *to);
int report_main(int argc, char **argv);
void report_help(FILE *to);
int run_main(int argc, char **argv);
void run_help(FILE *to);
int sol_main(int argc, char **argv);
void sol_help(FILE *to);
int work_main(int argc, char **argv);
void work_help(FILE *to);

/* Says on stderr why a call failed, and gives the exit status for it. */
int report(kmb_status status);
/* The same of a failure, where the line has been begun. */
int report_reason(kmb_status status);
/* Says on stderr what is wrong with the arguments. */
int usage(const char *command, const char *format, ...) KMB_PRINTF(2, 3);
/* Says so on stderr, and gives EXIT_FAILED. */
int no_memory(void);
/* Writes to a FILE. */
kmb_status write_file(void *file, const void *data, size_t size);

/* What both subcommands take: a file and what of it. */
typedef struct trace_options {
  const char *path;
  kmb_trace_params trace;
  kmb_gaps_params gaps;
} trace_options;

enum { OPTION_OTHER = 0, OPTION_TAKEN = 1, OPTION_WRONG = -1 };

/* Takes argv[*at], and its value, if it is an option of `options`; *at then
 * stands on the last word taken. OPTION_WRONG was reported. */
int take_trace_option(const char *command, int argc, char **argv, int *at,
                      trace_options *options);
/* The word after argv[*at]; NULL, reported, if there is none, and if it is
 * empty and was to say which kernels are meant. */
const char *option_value(const char *command, int argc, char **argv, int *at);
/* A time with its unit, such as 92.982s or 138us, in ns. */
bool read_time(const char *text, uint64_t *ns);
bool read_number(const char *text, uint64_t *number);

/* Loads with a progress bar if stderr is a terminal and loading is slow. An
 * exit status, reported. */
int load_trace(const trace_options *options, kmb_trace **trace);

/* Numbers as people write them. A count is whole and fits into 64 bits; it may
 * have an exponent, such as 1.5e12. */
bool read_count(const char *text, uint64_t *count);
bool read_real(const char *text, double *number);
/* By the library's names, or bf16's relatives fp16, fp32, fp8, int8 … */
bool read_dtype(const char *text, kmb_dtype *dtype);
/* The table of peaks, with the files that `paths` name added; *peaks is NULL if
 * there are none. An exit status, reported. */
int open_peaks(char *const *paths, int count, kmb_peaks **peaks);
/* Prints a document and frees it. An exit status, reported. */
int print_json(json_t *document);

#endif
