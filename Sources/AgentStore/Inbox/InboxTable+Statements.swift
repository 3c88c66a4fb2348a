// SPDX-License-Identifier: Apache-2.0

/// The long SQL statements of the inbox.
extension InboxTable {
    static let duplicateSQL: StaticString = """
        SELECT payload, effects FROM inbox WHERE entry > (SELECT max(entry) FROM inbox) - ?6 AND app_id = ?1
            AND received_ms BETWEEN ?2 - 1000 AND ?2 AND state IN ('waiting', 'claimed', 'shown')
            AND title IS ?3 AND subtitle IS ?4 AND body IS ?5 AND collapse_id IS ?7
        """

    // Entry numbers are not counts, because cleared entries leave gaps. The rows are counted only if the range of
    // numbers shows that there could be too many.
    static let removeSurplusSQL: StaticString = """
        DELETE FROM inbox WHERE entry IN (
            SELECT entry FROM inbox WHERE state NOT IN ('waiting', 'claimed')
                AND entry NOT IN (SELECT entry FROM reminders) ORDER BY entry
            LIMIT CASE WHEN (SELECT max(entry) FROM inbox) - (SELECT min(entry) FROM inbox) < ?1 THEN 0
                ELSE max(0, (SELECT count(*) FROM inbox) - ?1
                    - (SELECT count(*) FROM inbox WHERE state IN ('waiting', 'claimed'))
                    - (SELECT count(*) FROM reminders)) END)
        RETURNING entry
        """

    static let replacementSQL: StaticString = """
        SELECT 1 FROM inbox newer, inbox older WHERE older.entry = ?1 AND newer.entry > older.entry
            AND newer.state <> 'waiting' AND newer.state <> 'suppressed' AND newer.app_id = older.app_id
            AND CASE WHEN older.channel IS NULL THEN newer.channel IS NULL AND newer.collapse_id = older.collapse_id
                ELSE newer.channel = older.channel END
        LIMIT 1
        """

    // An answer to an alert also answers the alerts before it. Among alerts with the same collapse ID, only the newest
    // counts.
    static let threadCountSQL: StaticString = """
        SELECT count(*) FROM inbox AS older, inbox AS newest WHERE newest.entry = ?1
            AND older.entry < newest.entry AND older.app_id = newest.app_id AND older.thread_id = newest.thread_id
            AND older.state = 'shown' AND older.is_read = 0 AND instr(' ' || older.effects || ' ', ' alert ')
            AND NOT EXISTS (SELECT 1 FROM inbox AS later WHERE later.entry > older.entry
                AND later.entry <= newest.entry AND later.app_id = newest.app_id
                AND (later.collapse_id = older.collapse_id
                    OR later.thread_id = newest.thread_id AND later.state IN ('viewed', 'closed')))
        """

    // Starts at the oldest entry and stops at the first that is young enough, so that the table is not read to its end.
    // If the device's clock was wrong on arrival (before the server's time of acceptance, or later than now), the
    // server's time counts.
    static let removeOldSQL: StaticString = """
        DELETE FROM inbox WHERE entry < coalesce(
                (SELECT entry FROM inbox
                    WHERE CASE WHEN received_ms BETWEEN accepted_ms AND ?2 THEN received_ms ELSE accepted_ms END >= ?1
                    ORDER BY entry LIMIT 1), 9223372036854775807)
            AND state NOT IN ('waiting', 'claimed') AND entry NOT IN (SELECT entry FROM reminders) RETURNING entry
        """
}
