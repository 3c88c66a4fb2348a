// SPDX-License-Identifier: Apache-2.0
//
// Measures the time from the start of a program to its first frame on an X11 screen, and the minimum for any program.
//
//   opening window             opens a libadwaita window with a header bar and a text, as large as the panel
//   opening measure PROGRAM…   starts the program and ends it; prints the milliseconds to its first frame, to the next
//                              large change, and to the last large change before two seconds without one
//
// The first frame is the first damage event that covers half of a window: GTK's drawing has then reached the screen. A
// large change covers a quarter of the window, which excludes fading scroll bars.
#include <X11/Xlib.h>
#include <X11/extensions/Xdamage.h>
#include <adwaita.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000, SILENCE_MS = 2000, FRAME_MS = 8, WIDTH = 420, HEIGHT = 640 };

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void activate(GtkApplication *application) {
    GtkWidget *window = adw_application_window_new(application);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *label = gtk_label_new("A window of libadwaita's.");
    gtk_widget_set_vexpand(label, TRUE);
    gtk_box_append(GTK_BOX(box), adw_header_bar_new());
    gtk_box_append(GTK_BOX(box), label);
    adw_application_window_set_content(ADW_APPLICATION_WINDOW(window), box);
    gtk_window_set_default_size(GTK_WINDOW(window), WIDTH, HEIGHT);
    gtk_window_present(GTK_WINDOW(window));
}

static int open_window(void) {
    AdwApplication *application = adw_application_new("org.posthorn.Benchmark", 0);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    return g_application_run(G_APPLICATION(application), 0, NULL);
}

// Ignores errors, because a window may already be closed when its properties are read.
static int ignore(Display *display, XErrorEvent *error) {
    (void)display, (void)error;
    return 0;
}

// Returns the time of the next frame that changes at least 1/`parts` of its window, or a negative number after a
// timeout.
static double next_frame(Display *display, int damage_event, int patience_ms, int parts) {
    double end = now_ms() + patience_ms, latest = 0;
    long changed = 0;
    for (;;) {
        while (XPending(display)) {
            XEvent event;
            XNextEvent(display, &event);
            if (event.type == CreateNotify)
                XDamageCreate(display, event.xcreatewindow.window, XDamageReportRawRectangles);
            if (event.type != damage_event) continue;
            XDamageNotifyEvent *damage = (XDamageNotifyEvent *)&event;
            if (damage->geometry.width < WIDTH || damage->geometry.height < HEIGHT) continue;
            // One frame is reported as several rectangles in quick succession.
            if (now_ms() - latest > FRAME_MS) changed = 0;
            latest = now_ms();
            changed += (long)damage->area.width * damage->area.height;
            if (parts * changed >= (long)damage->geometry.width * damage->geometry.height) return latest;
        }
        double left = end - now_ms();
        if (left <= 0) return -1;
        struct pollfd ready = {.fd = ConnectionNumber(display), .events = POLLIN};
        poll(&ready, 1, (int)left + 1);
    }
}

static int measure(char **program) {
    Display *display = XOpenDisplay(NULL);
    int damage_event, damage_error;
    if (!display || !XDamageQueryExtension(display, &damage_event, &damage_error)) {
        fprintf(stderr, "opening: no X11 display with the extension DAMAGE\n");
        return 1;
    }
    XSetErrorHandler(ignore);
    XSelectInput(display, DefaultRootWindow(display), SubstructureNotifyMask);
    XSync(display, False);
    double start = now_ms();
    pid_t child = fork();
    if (child == 0) {
        execvp(program[0], program);
        _exit(127);
    }
    double first = next_frame(display, damage_event + XDamageNotify, PATIENCE_MS, 2), next = first, last = first, frame = first;
    while (frame >= 0 && now_ms() - start < PATIENCE_MS) {
        frame = next_frame(display, damage_event + XDamageNotify, SILENCE_MS, 4);
        if (frame < 0) break;
        if (next == first) next = frame;
        last = frame;
    }
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    if (first < 0) {
        fprintf(stderr, "opening: %s showed nothing in %d ms\n", program[0], PATIENCE_MS);
        return 1;
    }
    printf("%.1f %.1f %.1f\n", first - start, next - start, last - start);
    return 0;
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "window") == 0) return open_window();
    if (count > 2 && strcmp(words[1], "measure") == 0) return measure(words + 2);
    fprintf(stderr, "usage: opening window | opening measure PROGRAM [ARGUMENT…]\n");
    return 64;
}
