// SPDX-License-Identifier: Apache-2.0
//
// The limit of the store: SQLite alone, from C. Each transaction inserts BATCH rows with a 250-byte payload for random
// devices and deletes the BATCH oldest rows. It uses synchronous = FULL and a write-ahead log, over 20,000 permanent
// rows.
//
//   sqlite FILE BATCH ROWS     prints JSON: rows a second, microseconds of CPU for each
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { standing_rows = 20000, devices = 100000 };

static sqlite3 *database;
static uint64_t seed = 42;

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE) return;
    fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL)); }

static void step(sqlite3_stmt *statement) {
    check(sqlite3_step(statement));
    check(sqlite3_reset(statement));
}

static void insert(sqlite3_stmt *statement, int64_t id) {
    static unsigned char bytes[250];
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    memcpy(bytes, &seed, sizeof seed);
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_int64(statement, 2, (int64_t)(seed >> 33) % devices);
    sqlite3_bind_blob(statement, 3, bytes, 16, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 4, bytes, sizeof bytes, SQLITE_STATIC);
    step(statement);
}

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: sqlite FILE BATCH ROWS\n"), 2;
    int batch = atoi(arguments[2]), rows = atoi(arguments[3]);
    check(sqlite3_open(arguments[1], &database));
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE;"
        "CREATE TABLE notification (id INTEGER PRIMARY KEY, device INTEGER NOT NULL, topic INTEGER NOT NULL,"
        " apns BLOB NOT NULL, expires INTEGER, priority INTEGER, kind INTEGER, accepted INTEGER, payload BLOB NOT NULL);"
        "CREATE INDEX by_device ON notification (device, id)");
    sqlite3_stmt *insertion, *deletion;
    check(sqlite3_prepare_v2(database, "INSERT INTO notification VALUES (?, ?, 1, ?, 0, 10, 1, 0, ?)", -1, &insertion, NULL));
    check(sqlite3_prepare_v2(database, "DELETE FROM notification WHERE id = ?", -1, &deletion, NULL));
    int64_t next = 1, oldest = 1;
    run("BEGIN");
    while (next <= standing_rows) insert(insertion, next++);
    run("COMMIT");
    double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int done = 0; done < rows; done += batch) {
        run("BEGIN IMMEDIATE");
        for (int i = 0; i < batch; i++) insert(insertion, next++);
        for (int i = 0; i < batch; i++) {
            sqlite3_bind_int64(deletion, 1, oldest++);
            step(deletion);
        }
        run("COMMIT");
    }
    printf("{\"rate\":%.1f,\"cpu_us\":%.3f}\n", rows / (seconds(CLOCK_MONOTONIC) - start),
           (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / rows * 1e6);
    sqlite3_finalize(insertion);
    sqlite3_finalize(deletion);
    return sqlite3_close(database) != SQLITE_OK;
}
