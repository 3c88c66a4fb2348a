// SPDX-License-Identifier: Apache-2.0
//
// The fastest possible handling of an alert by a desktop on the session bus, in C with sd-bus.
//
//   desktop serve               provides org.freedesktop.Notifications; prints for each Notify the nanoseconds and the
//                               body's last line
//   desktop ask COUNT RATE      calls Notify COUNT times, RATE a second; prints the nanoseconds of each round trip
//
// Times are from CLOCK_MONOTONIC.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <systemd/sd-bus.h>
#include <time.h>

static const char name[] = "org.freedesktop.Notifications", path[] = "/org/freedesktop/Notifications";

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void check(int code, const char *what) {
    if (code >= 0) return;
    fprintf(stderr, "desktop: %s: %s\n", what, strerror(-code));
    exit(1);
}

static int notify(sd_bus_message *message, void *data, sd_bus_error *error) {
    static uint32_t count;
    int64_t arrived = now();
    const char *app, *icon, *summary, *body;
    uint32_t replaced;
    (void)data, (void)error;
    check(sd_bus_message_read(message, "susss", &app, &replaced, &icon, &summary, &body), "read Notify");
    int answered = sd_bus_reply_method_return(message, "u", replaced ? replaced : ++count);
    const char *end = strrchr(body, '\n');
    printf("%lld %s\n", (long long)arrived, end ? end + 1 : body);
    return answered;
}

static int capabilities(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    return sd_bus_reply_method_return(message, "as", 2, "actions", "body");
}

static int information(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    return sd_bus_reply_method_return(message, "ssss", "benchmark", "posthorn", "1", "1.2");
}

static int close_one(sd_bus_message *message, void *data, sd_bus_error *error) {
    uint32_t number;
    (void)data, (void)error;
    check(sd_bus_message_read(message, "u", &number), "read CloseNotification");
    check(sd_bus_emit_signal(sd_bus_message_get_bus(message), path, name, "NotificationClosed", "uu", number, 3u), "close");
    return sd_bus_reply_method_return(message, NULL);
}

static const sd_bus_vtable methods[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Notify", "susssasa{sv}i", "u", notify, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("GetCapabilities", "", "as", capabilities, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("GetServerInformation", "", "ssss", information, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("CloseNotification", "u", "", close_one, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static void serve(sd_bus *bus) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    check(sd_bus_add_object_vtable(bus, NULL, path, name, methods, NULL), "object");
    check(sd_bus_request_name(bus, name, 0), "name");
    puts("ready");
    for (;;) {
        int done = sd_bus_process(bus, NULL);
        check(done, "process");
        if (done == 0) check(sd_bus_wait(bus, UINT64_MAX), "wait");
    }
}

static void ask(sd_bus *bus, int count, double rate) {
    int64_t due = now();
    for (int number = 0; number < count; number++) {
        due += (int64_t)(1e9 / rate);
        struct timespec until = {due / 1000000000, due % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {}
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *answer = NULL;
        int64_t begin = now();
        check(sd_bus_call_method(bus, name, path, name, "Notify", &error, &answer, "susssasa{sv}i", "bare", 0u, "",
                                 "Lunch Together", "bare", 0, 0, -1), "Notify");
        printf("%lld\n", (long long)(now() - begin));
        sd_bus_message_unref(answer);
    }
}

int main(int count, char **arguments) {
    sd_bus *bus;
    // Without this, the kernel may delay timers by up to 50 us.
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    check(sd_bus_open_user(&bus), "session bus");
    if (count == 2 && strcmp(arguments[1], "serve") == 0) serve(bus);
    if (count != 4 || strcmp(arguments[1], "ask") != 0 || atof(arguments[3]) <= 0)
        return fprintf(stderr, "usage: desktop serve | desktop ask COUNT RATE\n"), 2;
    ask(bus, atoi(arguments[2]), atof(arguments[3]));
    return 0;
}
