/* Taken in before the sources of a program that waits so long for its ranks. */
#ifndef KMB_TESTS_CUDA_PATIENCE_H
#define KMB_TESTS_CUDA_PATIENCE_H

extern double longest_wait_s;
#define PATIENCE_S longest_wait_s

/* Its main(). */
int program(int argc, char **argv);
#define main program

#endif
