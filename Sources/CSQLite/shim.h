// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sqlite3.h>

/// sqlite3_db_config with SQLITE_DBCONFIG_DEFENSIVE: variadic, so Swift cannot import it. Here and not in CPushShims,
/// because programs that use CPushShims need not link SQLite.
static inline int push_sqlite_make_defensive(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/// sqlite3_db_config with SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE: variadic, as above.
static inline int push_sqlite_leave_log_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
