/* The text of all layouts, for the Python side. */
#include "core.h"

#define DESCRIBE(Name, FIELDS) #Name ":" FIELDS(TEXT) "\n"

EXPORT const char *layouts(void) { return LAYOUTS(DESCRIBE); }
