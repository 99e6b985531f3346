/* One rank's part of what the agreement costs. */
#ifndef KMB_BENCH_AGREEMENT_RANK_H
#define KMB_BENCH_AGREEMENT_RANK_H

#include <kmb/kmb.h>

/* Measures a function of no length on the host together with the other ranks:
 * what the agreement took for each sample, in ns. Ends the program if it
 * cannot. */
double agreement_of_rank(kmb_comm *comm);

#endif
