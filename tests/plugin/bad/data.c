/* An entry that is no function. */
extern int kmb_backend_entry_1;
__attribute__((visibility("default"))) int kmb_backend_entry_1 = 5;
