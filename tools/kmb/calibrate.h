/* What kmb calibrate found, drawn. */
#ifndef KMB_TOOLS_CALIBRATE_H
#define KMB_TOOLS_CALIBRATE_H

#include "probe.h"

/* An exit status, reported. */
int draw_calibration(const char *path, const char *device, const char *what,
                     const reading *readings, int count);

#endif
