/* What kmb calibrate found, drawn. */
#ifndef KMB_TOOLS_CALIBRATE_H
#define KMB_TOOLS_CALIBRATE_H

#include "probe.h"

/* Whether a picture can be written there, before measuring takes its time. An
 * exit status, reported. */
int check_drawing(const char *path);
/* An exit status, reported. */
int draw_calibration(const char *path, const char *device, const char *what,
                     const reading *readings, int count);

#endif
