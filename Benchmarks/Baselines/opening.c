// SPDX-License-Identifier: Apache-2.0
//
// How long a window takes from the start of its program to its first frame on an X11 screen, and the least that it can take.
//
//   opening window             opens a window of libadwaita's with a header bar and a text, as large as the panel
//   opening measure PROGRAM…   starts the program, prints milliseconds to its first frame, to the next one that changes much,
//                              and to the last one before two seconds without such a change, and ends it
//
// The first frame is the first damage of a window that covers half of it: what GTK drew has reached the screen then. Later
// ones change much where they cover a quarter; scroll bars that fade away do not.
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

// A window may be gone when it is asked about.
static int ignore(Display *display, XErrorEvent *error) {
    (void)display, (void)error;
    return 0;
}

// When the next frame is there that covers one part in `parts` of its window; negative when there is none in time.
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
            // One frame is told as several rectangles, one right after the other.
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
