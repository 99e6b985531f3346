/* A shared object that needs a function which nobody has. */
void kmb_test_nobody_has_this(void);
void kmb_test_call(void);

void kmb_test_call(void) {
  kmb_test_nobody_has_this();
}
