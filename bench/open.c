/* Opening the host against loading the topology alone, which it cannot do
 * without. Each in a fresh process: the program starts itself again. */
#include "quiet.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPEN, LOAD, WHOLE, WAYS };
static const char *const ways[WAYS] = {"kmb_device_open", "load", "whole"};
static const char *const told[WAYS] = {"kmb_device_open(\"host\")",
                                       "hwloc_topology_load alone",
                                       "hwloc init, filters and load"};

static double time_open(void) {
  kmb_device *device = NULL;
  double begin = now_ns();
  must(kmb_device_open("host", NULL, &device), "opening the host");
  double ns = now_ns() - begin;
  kmb_device_close(device);
  return ns;
}

/* The same filters as the host backend: cores and data caches, nothing else
 * (NUMA nodes and PUs cannot be left out), no flags. */
static void set_filters(hwloc_topology_t topology) {
  static const hwloc_obj_type_t kept[] = {HWLOC_OBJ_CORE,    HWLOC_OBJ_L1CACHE,
                                          HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                          HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
    hwloc_topology_set_type_filter(topology, kept[i],
                                   HWLOC_TYPE_FILTER_KEEP_ALL);
}

static double time_load(bool whole) {
  hwloc_topology_t topology;
  double begin = now_ns();
  int failed = hwloc_topology_init(&topology);
  if (!failed) set_filters(topology);
  if (!whole) begin = now_ns();
  if (!failed) failed = hwloc_topology_load(topology);
  double ns = now_ns() - begin;
  if (failed) give_up("hwloc", "could not load the topology");
  hwloc_topology_destroy(topology);
  return ns;
}

static int child(const char *way) {
  double ns = strcmp(way, ways[OPEN]) == 0
                  ? time_open()
                  : time_load(strcmp(way, ways[WHOLE]) == 0);
  return write(STDOUT_FILENO, &ns, sizeof ns) == (ssize_t)sizeof ns ? 0 : 2;
}

/* What a fresh process measured. */
static double ask(int way) {
  int ends[2], status = 0;
  double ns = 0;
  if (pipe(ends)) give_up("pipe", strerror(errno));
  pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", "bench_open", "--child", ways[way], (char *)NULL);
    _exit(2);
  }
  close(ends[1]);
  ssize_t got = pid > 0 ? read(ends[0], &ns, sizeof ns) : -1;
  close(ends[0]);
  if (pid > 0) waitpid(pid, &status, 0);
  if (got != (ssize_t)sizeof ns || status)
    give_up(told[way], "its process failed");
  return ns;
}

/* One row of the table; gives the median. */
static double add_row(json_t *rows, int way, const double *ns, size_t count,
                      double *scratch) {
  memcpy(scratch, ns, count * sizeof *scratch);
  middle m = middle_of(scratch, count);
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_real(ns[i]));
  json_array_append_new(rows, json_pack("{s:s, s:f, s:o}", "name", told[way],
                                        "median_ns", m.median, "ns", list));
  printf("%-30s %8.1f us (95%%: %.1f to %.1f; fastest %.1f), %zu processes\n",
         told[way], m.median / 1e3, m.low / 1e3, m.high / 1e3, scratch[0] / 1e3,
         count);
  return m.median;
}

static void judge(report *r, canary *quiet, const double *ns, size_t count,
                  double *scratch) {
  json_t *rows = json_array();
  double medians[WAYS];
  for (int way = 0; way < WAYS; way++)
    medians[way] = add_row(rows, way, ns + (size_t)way * count, count, scratch);
  json_object_set_new(r->root, "times", rows);
  for (size_t i = 0; i < count; i++)
    scratch[i] = ns[i] / ns[LOAD * count + i];
  middle pairs = middle_of(scratch, count);
  figure f = {"kmb_device_open / hwloc_topology_load",
              "x",
              medians[OPEN] / medians[LOAD],
              pairs.low,
              pairs.high,
              "95% of the paired medians",
              -1e301,
              1.2};
  const char *why_not = canary_verdict(quiet, r);
  printf("\n");
  report_figure(r, &f, why_not);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--child") == 0) return child(argv[2]);
  report r;
  report_open(&r, &argc, argv, "open");
  size_t count = option(argc, argv, "runs", 61);
  double *ns = calloc((WAYS + 1) * count, sizeof *ns);
  if (!ns) give_up("open", "out of memory");
  canary quiet;
  canary_start(&quiet);
  for (int way = 0; way < WAYS; way++)
    ask(way); /* brings files into the page cache */
  for (size_t i = 0; i < count; i++) {
    for (int way = 0; way < WAYS; way++)
      ns[(size_t)way * count + i] = ask(way);
    canary_spin(&quiet);
  }
  judge(&r, &quiet, ns, count, ns + WAYS * count);
  free(ns);
  return report_close(&r);
}
