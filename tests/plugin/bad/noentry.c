/* A shared object that is no backend. */
extern int kmb_test_nothing;
int kmb_test_nothing = 0;
