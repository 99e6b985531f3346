/* Prints the device code that the HIP backend gives to hiprtc. */
#include "kernels.h"

#include <stdio.h>

int main(void) {
  return fputs("#include <hip/hip_runtime.h>\n", stdout) < 0 ||
         fputs(kmbi_hip_source, stdout) < 0;
}
