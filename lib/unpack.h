/* Text that data/pack_text.py packed, which says how. */
#ifndef KMB_LIB_UNPACK_H
#define KMB_LIB_UNPACK_H

/* `text` has room for all of it; no zero is added. */
void kmbi_unpack(const unsigned char *packed, char *text);

#endif
