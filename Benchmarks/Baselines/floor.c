// SPDX-License-Identifier: Apache-2.0
//
// The floor: the simplest possible server with one TLS connection for each device. One thread, epoll, OpenSSL on the
// socket, and buffers released while idle. It stores nothing, checks nothing, and forwards messages to subscribers.
//
//   floor PORT CERTIFICATE KEY TICKETS
//
// A frame: length of the payload (2 bytes), kind, a spare byte, topic (4 bytes), payload.
//   S subscribe (answered with S)   P publish (answered with A, forwarded as M)   B publish to all   K acknowledge
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { connections_max = 20000, topics_max = 1 << 20, buffer_size = 65536 };

// Small while idle: memory for incomplete input and for waiting output is allocated on demand.
typedef struct connection {
    SSL *tls;
    unsigned char *input, *output;
    uint32_t input_size, output_size;
    int descriptor, topic;
    unsigned char is_open, is_dirty, wants_room;
} connection;

static int epoll;
static connection *connections[connections_max];
static connection *listeners[topics_max];
static connection *dirty[connections_max];
static int dirty_count;
static unsigned char buffer[buffer_size];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void watch(connection *c, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.fd = c->descriptor};
    if (epoll_ctl(epoll, operation, c->descriptor, &event) < 0) die("epoll_ctl");
}

static void end(connection *c) {
    if (c->topic >= 0 && listeners[c->topic] == c) listeners[c->topic] = NULL;
    for (int i = 0; i < dirty_count; i++)
        if (dirty[i] == c) dirty[i] = dirty[--dirty_count];
    connections[c->descriptor] = NULL;
    SSL_set_shutdown(c->tls, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(c->tls);
    close(c->descriptor);
    free(c->input);
    free(c->output);
    free(c);
}

static unsigned char *grown(unsigned char *bytes, size_t size) {
    unsigned char *more = realloc(bytes, size);
    if (!more) die("realloc");
    return more;
}

static void put(connection *c, unsigned char kind, uint32_t topic, const unsigned char *payload, uint32_t size) {
    c->output = grown(c->output, c->output_size + 8 + size);
    unsigned char *at = c->output + c->output_size;
    uint32_t order = htonl(topic);
    at[0] = (unsigned char)(size >> 8), at[1] = (unsigned char)size, at[2] = kind, at[3] = 0;
    memcpy(at + 4, &order, 4);
    if (size) memcpy(at + 8, payload, size);
    c->output_size += 8 + size;
    if (!c->is_dirty) dirty[dirty_count++] = c, c->is_dirty = 1;
}

// Returns 0 if the connection is closed.
static int flush(connection *c) {
    c->is_dirty = 0;
    uint32_t start = 0;
    while (start < c->output_size) {
        ERR_clear_error();
        int count = SSL_write(c->tls, c->output + start, (int)(c->output_size - start));
        if (count <= 0) {
            if (SSL_get_error(c->tls, count) != SSL_ERROR_WANT_WRITE) return end(c), 0;
            memmove(c->output, c->output + start, c->output_size - start);
            c->output_size -= start;
            if (!c->wants_room) watch(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            c->wants_room = 1;
            return 1;
        }
        start += (uint32_t)count;
    }
    free(c->output);
    c->output = NULL, c->output_size = 0;
    if (c->wants_room) watch(c, EPOLLIN, EPOLL_CTL_MOD);
    c->wants_room = 0;
    return 1;
}

static void frame(connection *c, unsigned char kind, uint32_t topic, const unsigned char *payload, uint32_t size) {
    topic %= topics_max;
    if (kind == 'S') {
        c->topic = (int)topic;
        listeners[topic] = c;
        put(c, 'S', topic, NULL, 0);
    } else if (kind == 'P') {
        put(c, 'A', topic, NULL, 0);
        if (listeners[topic]) put(listeners[topic], 'M', topic, payload, size);
    } else if (kind == 'B') {
        put(c, 'A', topic, NULL, 0);
        for (int i = 0; i < connections_max; i++)
            if (connections[i] && connections[i]->topic >= 0) put(connections[i], 'M', topic, payload, size);
    }
}

static size_t frames(connection *c, const unsigned char *bytes, size_t size) {
    size_t start = 0;
    while (size - start >= 8) {
        uint32_t length = (uint32_t)bytes[start] << 8 | bytes[start + 1], topic;
        if (size - start < 8 + length) break;
        memcpy(&topic, bytes + start + 4, 4);
        frame(c, bytes[start + 2], ntohl(topic), bytes + start + 8, length);
        start += 8 + length;
    }
    return start;
}

static void take(connection *c, const unsigned char *bytes, size_t size) {
    if (!c->input_size) {
        size_t used = frames(c, bytes, size);
        if (used == size) return;
        c->input = grown(NULL, size - used);
        memcpy(c->input, bytes + used, size - used);
        c->input_size = (uint32_t)(size - used);
        return;
    }
    c->input = grown(c->input, c->input_size + size);
    memcpy(c->input + c->input_size, bytes, size);
    c->input_size += (uint32_t)size;
    size_t used = frames(c, c->input, c->input_size);
    memmove(c->input, c->input + used, c->input_size - used);
    c->input_size -= (uint32_t)used;
    if (!c->input_size) free(c->input), c->input = NULL;
}

static void ready(connection *c, uint32_t events) {
    if (!c->is_open) {
        ERR_clear_error();
        int code = SSL_do_handshake(c->tls);
        if (code != 1) {
            int error = SSL_get_error(c->tls, code);
            if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) end(c);
            return;
        }
        c->is_open = 1;
    }
    if (events & EPOLLOUT && !flush(c)) return;
    for (;;) {
        ERR_clear_error();
        int count = SSL_read(c->tls, buffer, buffer_size);
        if (count <= 0) {
            if (SSL_get_error(c->tls, count) != SSL_ERROR_WANT_READ) end(c);
            return;
        }
        take(c, buffer, (size_t)count);
        if (count < 16000 && !SSL_has_pending(c->tls)) return;
    }
}

static void accept_all(int listener, SSL_CTX *context) {
    int descriptor, one = 1;
    while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        connection *c = calloc(1, sizeof *c);
        if (!c || descriptor >= connections_max) die("too many connections");
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        c->descriptor = descriptor, c->topic = -1, c->tls = SSL_new(context);
        if (!c->tls) die("SSL_new");
        SSL_set_fd(c->tls, descriptor);
        SSL_set_accept_state(c->tls);
        connections[descriptor] = c;
        watch(c, EPOLLIN, EPOLL_CTL_ADD);
    }
}

int main(int count, char **arguments) {
    if (count != 5) return fprintf(stderr, "usage: floor PORT CERTIFICATE KEY TICKETS\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit = {connections_max, connections_max};
    setrlimit(RLIMIT_NOFILE, &limit);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_num_tickets(context, (size_t)atoi(arguments[4]));
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_use_certificate_chain_file(context, arguments[2]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, arguments[3], SSL_FILETYPE_PEM) != 1)
        return fprintf(stderr, "floor: certificate or key cannot be read\n"), 1;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4096) < 0) die("listen");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int number = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < number; i++) {
            if (events[i].data.fd == listener) accept_all(listener, context);
            else if (connections[events[i].data.fd]) ready(connections[events[i].data.fd], events[i].events);
        }
        while (dirty_count) flush(dirty[--dirty_count]);
    }
}
