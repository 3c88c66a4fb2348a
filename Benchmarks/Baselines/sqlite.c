// SPDX-License-Identifier: Apache-2.0
//
// The limit of the store: SQLite alone, from C, with the work of posthornd for notifications to offline devices.
//
// The table and its index are those of Sources/PushStore/Tables/Schema.swift. The settings of the connection are those
// of Sources/PushSQLite/Connection.swift and Sources/PushStore/Writer/OpenedStore.swift. Rows are in order of
// acceptance, and nothing is deleted. As in PendingTable.swift, a prepared statement inserts sixteen rows and another
// inserts one. Each row has one packed record. As in Committer.swift, a passive checkpoint runs after a commit if the
// log has at least LOG_PAGES pages and none ran within a second, or if it has LOG_PAGES_MAX pages. The server's other
// tables (trace, history, last sequence) are not written.
//
//   sqlite FILE BATCH ROWS     inserts ROWS rows in transactions of BATCH; prints JSON: rows a second, and microseconds
//                              of CPU for each
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A record has 48 bytes of numbers, a UUID, the topic's name, the payload and a checksum.
enum { ROWS_PER_INSERT = 16, COLUMNS = 7, DEVICES = 10000, RECORD_BYTES = 48 + 36 + 17 + 250 + 8 };
// WriterLimits.checkpointPageCount, and WriterLimits.reserveByteCountMax in pages.
enum { LOG_PAGES = 1024, LOG_PAGES_MAX = 16777216 / 4096 };

static sqlite3 *database;
static int log_pages;
static int64_t device_ids[DEVICES];
static unsigned char records[ROWS_PER_INSERT][RECORD_BYTES];

static uint64_t random_number(void) {
    static uint64_t state = 42;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 33;
}

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

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

static void step(sqlite3_stmt *statement) {
    check(sqlite3_step(statement));
    check(sqlite3_reset(statement));
}

// Inserts rows; their collapse hash and expiration stay NULL.
static void insert(sqlite3_stmt *statement, int64_t first, int count) {
    for (int i = 0; i < count; i++) {
        int at = COLUMNS * i;
        uint64_t number = random_number();
        memcpy(records[i], &number, sizeof number);
        check(sqlite3_bind_int64(statement, at + 1, first + i));
        check(sqlite3_bind_int64(statement, at + 2, device_ids[number % DEVICES]));
        check(sqlite3_bind_int64(statement, at + 3, 1));
        check(sqlite3_bind_int64(statement, at + 6, 96 * (first + i)));
        check(sqlite3_bind_blob(statement, at + 7, records[i], RECORD_BYTES, SQLITE_STATIC));
    }
    step(statement);
}

static int note_commit(void *data, sqlite3 *from, const char *name, int pages) {
    (void)data, (void)from, (void)name;
    log_pages = pages;
    return SQLITE_OK;
}

static void open_database(const char *path) {
    check(sqlite3_open(path, &database));
    run("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = 33554432;"
        "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;"
        "CREATE TABLE pending(sequence INTEGER PRIMARY KEY, device INTEGER NOT NULL, topic INTEGER NOT NULL,"
        " collapse INTEGER, expires_at_ms INTEGER, trace_position INTEGER, record BLOB NOT NULL) STRICT;"
        "CREATE INDEX pending_by_expiry ON pending(expires_at_ms) WHERE expires_at_ms IS NOT NULL");
    sqlite3_wal_hook(database, note_commit, NULL);
}

int main(int count, char **arguments) {
    if (count != 4 || atoi(arguments[2]) < 1) return fprintf(stderr, "usage: sqlite FILE BATCH ROWS\n"), 2;
    int batch = atoi(arguments[2]), rows = atoi(arguments[3]);
    for (int i = 0; i < DEVICES; i++) device_ids[i] = (int64_t)random_number();
    open_database(arguments[1]);
    sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    sqlite3_stmt *one = prepare("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *many = prepare("INSERT INTO pending VALUES"
                                 " (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),"
                                 " (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),"
                                 " (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),"
                                 " (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),"
                                 " (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),"
                                 " (?, ?, ?, ?, ?, ?, ?)");
    double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double next_checkpoint = 0;
    for (int64_t next = 1; next <= rows;) {
        int64_t end = next + batch <= rows ? next + batch : (int64_t)rows + 1;
        step(begin);
        for (; end - next >= ROWS_PER_INSERT; next += ROWS_PER_INSERT) insert(many, next, ROWS_PER_INSERT);
        for (; next < end; next++) insert(one, next, 1);
        step(commit);
        if (log_pages < LOG_PAGES) continue;
        double now = seconds(CLOCK_MONOTONIC);
        if (log_pages < LOG_PAGES_MAX && now < next_checkpoint) continue;
        next_checkpoint = now + 1;
        check(sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL));
    }
    printf("{\"rate\":%.1f,\"cpu_us\":%.3f}\n", rows / (seconds(CLOCK_MONOTONIC) - start),
           (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / rows * 1e6);
    sqlite3_stmt *all[] = {begin, commit, one, many};
    for (int i = 0; i < 4; i++) sqlite3_finalize(all[i]);
    return sqlite3_close(database) != SQLITE_OK;
}
