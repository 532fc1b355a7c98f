/*
 * The one function that Rust's standard library imports from bcryptprimitives.dll, for wine versions that do not
 * have that DLL (8.0 does not: every Rust program then ends with status 53 before its first line).
 *
 * The numbers come from advapi32's SystemFunction036, which takes a 32-bit length.
 */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(void *buffer, ULONG length);

BOOL WINAPI __declspec(dllexport) ProcessPrng(unsigned char *buffer, SIZE_T length)
{
    const SIZE_T most = 1u << 24;
    SIZE_T done = 0;

    while (done < length) {
        SIZE_T rest = length - done;
        ULONG now = (ULONG)(rest < most ? rest : most);

        if (!SystemFunction036(buffer + done, now))
            return FALSE;
        done += now;
    }
    return TRUE;
}
