/* A rank over MPI, which bench_agreement launches: rank 0 prints what the
 * agreement took for each sample, in ns. */
#include <mpi.h>

#include "agreement_rank.h"
#include "report.h"

#include <kmb/mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
  kmb_comm *comm = NULL;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) give_up("MPI_Init", "failed");
  must(kmb_mpi_comm_create(MPI_COMM_WORLD, NULL, &comm), "joining over MPI");
  double ns = agreement_of_rank(comm);
  if (kmb_comm_rank(comm) == 0) printf("%.17g\n", ns);
  kmb_comm_destroy(comm);
  MPI_Finalize();
  return 0;
}
