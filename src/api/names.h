/* names.h - the words of the public API's enums, and the enums of the inside as those of the API.
 */
#ifndef CLV_API_NAMES_H
#define CLV_API_NAMES_H

#include "cleave.h"
#include "solver/common/limits.h"

/* Why a search ended; by the word that a plan says it with, NULL: unknown. */
cleave_end clv_end_public(clv_end end);
cleave_end clv_end_of_word(const char *word);

#endif
