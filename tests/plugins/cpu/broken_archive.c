/* Refers to what nobody defines. */
void missing_function(void);
void broken_entry(void);
void broken_entry(void)
{
    missing_function();
}
