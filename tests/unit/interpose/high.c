/* An object that is linked to lie at the upper end of memory. */
int gpuspy_high_function(void);
int gpuspy_high_function(void) {
    return 7;
}
