/* Pictures of a result's samples. */
#ifndef KMB_TOOLS_PLOT_SAMPLES_H
#define KMB_TOOLS_PLOT_SAMPLES_H

#include "plot.h"
#include "results.h"

enum { SAMPLES_WIDTH = 1200, SAMPLES_HEIGHT = 470 };

/* Draws one result from `top` on, SAMPLES_HEIGHT high; false, reported, if
 * there is no memory. */
bool draw_samples(canvas *c, const kmb_result *result, double top);

#endif
