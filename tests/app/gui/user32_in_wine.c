/* Calls user32 for a Python process that cannot load it: one call a line on stdin, its result on stdout. It runs under wine.
   Its window has a text field with the keyboard; `text` prints what is in it, in UTF-16 as hexadecimal digits. Each WM_HOTKEY is
   printed as the bytes of its MSG. */

#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static DWORD main_thread;

static void print_bytes(const char *name, const void *bytes, size_t size) {
    printf("%s ", name);
    for (size_t i = 0; i < size; i++) printf("%02x", ((const unsigned char *)bytes)[i]);
    printf("\n");
    fflush(stdout);
}

static DWORD WINAPI read_lines(void *unused) {
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) PostThreadMessageA(main_thread, WM_APP, 0, (LPARAM)_strdup(line));
    PostThreadMessageA(main_thread, WM_QUIT, 0, 0);
    return 0;
}

static void call(const char *line, HWND field) {
    static char digits[65536];
    static unsigned char bytes[32768];
    static WCHAR text[4096];
    int a = 0, b = 0, c = 0;
    long long result = 0;
    if (sscanf(line, "RegisterHotKey %d %d %d", &a, &b, &c) == 3) result = RegisterHotKey(NULL, a, b, c);
    else if (sscanf(line, "UnregisterHotKey %d", &a) == 1) result = UnregisterHotKey(NULL, a);
    else if (sscanf(line, "GetAsyncKeyState %d", &a) == 1) result = GetAsyncKeyState(a);
    else if (sscanf(line, "MapVirtualKeyW %d %d", &a, &b) == 2) result = MapVirtualKeyW(a, b);
    else if (sscanf(line, "SendInput %d %d %65535s", &a, &b, digits) == 3) {
        for (size_t i = 0; i < strlen(digits) / 2; i++) sscanf(digits + 2 * i, "%2hhx", &bytes[i]);
        result = SendInput(a, (INPUT *)bytes, b);
    } else if (!strncmp(line, "text", 4)) {
        int length = GetWindowTextW(field, text, 4096);
        print_bytes("=", text, length * sizeof(WCHAR));
        return;
    }
    printf("= %lld\n", result);
    fflush(stdout);
}

int main(void) {
    MSG message;
    main_thread = GetCurrentThreadId();
    PeekMessageA(&message, NULL, WM_USER, WM_USER, PM_NOREMOVE); /* it has a queue now */
    HWND window = CreateWindowA("STATIC", "user32 in wine", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 0, 0, 400, 200, NULL, NULL, NULL, NULL);
    HWND field = CreateWindowA("EDIT", "", WS_CHILD | WS_VISIBLE, 0, 0, 380, 30, window, NULL, NULL, NULL);
    SetForegroundWindow(window);
    SetFocus(field);
    CreateThread(NULL, 0, read_lines, NULL, 0, NULL);
    printf("ready\n");
    fflush(stdout);
    while (GetMessageA(&message, NULL, 0, 0) > 0) {
        if (message.message == WM_APP && !message.hwnd) {
            call((char *)message.lParam, field);
            free((char *)message.lParam);
        } else if (message.message == WM_HOTKEY) {
            print_bytes("hotkey", &message, sizeof message);
        } else {
            if (message.message == WM_LBUTTONDOWN) SetFocus(field);
            TranslateMessage(&message);
            DispatchMessageA(&message);
        }
    }
    return 0;
}
