#include "core/store/schema.h"

namespace lathe::store {

namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE models(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, options TEXT NOT NULL,
    UNIQUE(hash, options));
CREATE TABLE tasks(model INTEGER NOT NULL REFERENCES models(id), position INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
    weight INTEGER NOT NULL, flop REAL NOT NULL, compatible_keys TEXT NOT NULL, PRIMARY KEY(model, key)) WITHOUT ROWID;
CREATE TABLE sessions(id INTEGER PRIMARY KEY, model INTEGER NOT NULL REFERENCES models(id), target TEXT NOT NULL, options TEXT NOT NULL,
    started_ms INTEGER NOT NULL, active_s REAL NOT NULL, state TEXT NOT NULL);
CREATE TABLE records(id INTEGER PRIMARY KEY, trial TEXT NOT NULL UNIQUE, session INTEGER NOT NULL, round INTEGER NOT NULL,
    position INTEGER NOT NULL, task TEXT NOT NULL, alternative TEXT NOT NULL, edges TEXT NOT NULL, kind TEXT NOT NULL, sketch TEXT NOT NULL,
    genome TEXT NOT NULL, steps TEXT NOT NULL, hash TEXT NOT NULL, stage TEXT NOT NULL, code TEXT NOT NULL, text TEXT NOT NULL,
    mean_ns REAL, costs_ns TEXT NOT NULL, verified INTEGER NOT NULL, durations_ms TEXT NOT NULL, conditions TEXT NOT NULL,
    device TEXT NOT NULL, time_ms INTEGER NOT NULL);
CREATE INDEX records_by_cost ON records(task, mean_ns) WHERE code = 'Ok';
CREATE INDEX records_by_place ON records(session, round, position);
CREATE TABLE rounds(session INTEGER NOT NULL, position INTEGER NOT NULL, task TEXT NOT NULL, trials INTEGER NOT NULL, terms TEXT NOT NULL,
    durations_ms TEXT NOT NULL, at_s REAL NOT NULL, estimate_ms REAL, PRIMARY KEY(session, position)) WITHOUT ROWID;
CREATE TABLE events(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, at_s REAL NOT NULL, kind TEXT NOT NULL, json TEXT NOT NULL);
CREATE TABLE snapshots(session INTEGER NOT NULL, kind TEXT NOT NULL, round INTEGER NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY(session, kind)) WITHOUT ROWID;
CREATE TABLE notes(subject TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE VIEW best AS SELECT * FROM records r WHERE code = 'Ok' AND id = (SELECT id FROM records s WHERE s.task = r.task AND s.code = 'Ok'
    ORDER BY mean_ns, id LIMIT 1);
)sql";

// Histories of a million records: lists are filtered and ordered from one narrow index that grows at its end (a row of
// the table fills half a page), failures have their own, and counts and best-of are kept, not counted.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE records ADD COLUMN predicted_ns REAL;
DROP INDEX records_by_place;
CREATE INDEX records_by_place ON records(session, round, position, task, alternative, sketch, code, stage, mean_ns, predicted_ns, time_ms);
CREATE INDEX records_failed ON records(code, stage, task) WHERE code <> 'Ok';
CREATE TABLE totals(task TEXT PRIMARY KEY, trials INTEGER NOT NULL, errors INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO totals SELECT task, count(*), sum(code <> 'Ok') FROM records GROUP BY task;
CREATE TRIGGER records_counted AFTER INSERT ON records BEGIN
    INSERT OR IGNORE INTO totals VALUES(NEW.task, 0, 0);
    UPDATE totals SET trials = trials + 1, errors = errors + (NEW.code <> 'Ok') WHERE task = NEW.task;
END;
CREATE TRIGGER records_uncounted AFTER DELETE ON records BEGIN
    UPDATE totals SET trials = trials - 1, errors = errors - (OLD.code <> 'Ok') WHERE task = OLD.task;
END;
DROP VIEW best;
CREATE VIEW best AS SELECT r.* FROM totals t JOIN records r ON r.id = (SELECT id FROM records s WHERE s.task = t.task AND s.code = 'Ok'
    ORDER BY mean_ns, id LIMIT 1);
CREATE TABLE budgets(model INTEGER NOT NULL, task TEXT NOT NULL, pinned INTEGER NOT NULL, muted INTEGER NOT NULL, boost REAL NOT NULL,
    trial_cap INTEGER NOT NULL, PRIMARY KEY(model, task)) WITHOUT ROWID;
)sql";

// Costs compare only where they were measured alike: the fastest record is kept for each target text, device, cache
// condition and alternative, together with the latest record of that kind.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE records ADD COLUMN target TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN cold_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE records SET target = coalesce((SELECT target FROM sessions WHERE sessions.id = records.session), ''),
    cold_bytes = CASE WHEN json_valid(conditions) THEN CAST(coalesce(json_extract(conditions, '$.cold_bytes'), 0) AS INTEGER) ELSE 0 END;
CREATE TABLE fastest(task TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL, cold_bytes INTEGER NOT NULL, alternative TEXT NOT NULL,
    record INTEGER NOT NULL, mean_ns REAL NOT NULL, latest INTEGER NOT NULL, PRIMARY KEY(task, target, device, cold_bytes, alternative)) WITHOUT ROWID;
INSERT INTO fastest SELECT task, target, device, cold_bytes, alternative, id, min(mean_ns), 0 FROM records WHERE code = 'Ok' AND mean_ns IS NOT NULL
    GROUP BY task, target, device, cold_bytes, alternative;
UPDATE fastest SET latest = (SELECT max(id) FROM records r WHERE r.task = fastest.task AND r.target = fastest.target AND r.device = fastest.device
    AND r.cold_bytes = fastest.cold_bytes AND r.alternative = fastest.alternative AND r.code = 'Ok');
CREATE TRIGGER records_compared AFTER INSERT ON records WHEN NEW.code = 'Ok' AND NEW.mean_ns IS NOT NULL BEGIN
    INSERT OR IGNORE INTO fastest VALUES(NEW.task, NEW.target, NEW.device, NEW.cold_bytes, NEW.alternative, NEW.id, NEW.mean_ns, NEW.id);
    UPDATE fastest SET latest = NEW.id, record = iif(NEW.mean_ns < mean_ns, NEW.id, record), mean_ns = min(NEW.mean_ns, mean_ns)
        WHERE task = NEW.task AND target = NEW.target AND device = NEW.device AND cold_bytes = NEW.cold_bytes AND alternative = NEW.alternative;
END;
CREATE TRIGGER records_forgotten AFTER DELETE ON records WHEN OLD.code = 'Ok' BEGIN
    DELETE FROM fastest WHERE task = OLD.task AND target = OLD.target AND device = OLD.device AND cold_bytes = OLD.cold_bytes
        AND alternative = OLD.alternative;
    INSERT INTO fastest SELECT task, target, device, cold_bytes, alternative, id, mean_ns, id FROM records
        WHERE task = OLD.task AND target = OLD.target AND device = OLD.device AND cold_bytes = OLD.cold_bytes
        AND alternative = OLD.alternative AND code = 'Ok' AND mean_ns IS NOT NULL ORDER BY mean_ns, id LIMIT 1;
END;
DROP VIEW best;
CREATE VIEW best AS SELECT r.* FROM fastest f JOIN records r ON r.id = f.record;
)sql";

// Trials that were measured again; lists are ordered by whether results were checked, too.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE records ADD COLUMN repeats TEXT NOT NULL DEFAULT '';
CREATE INDEX records_repeated ON records(repeats) WHERE repeats <> '';
DROP INDEX records_by_place;
CREATE INDEX records_by_place ON records(session, round, position, task, alternative, sketch, code, stage, mean_ns, predicted_ns, time_ms, verified);
)sql";

// Who stands best. Finals measure the best trials of a task once more, side by side: where a task has finals (for a
// target, device and cache condition), every older record of it is past, the finals of before included. Past records
// rank behind all others, whatever their cost; they serve where nothing else will do, as for an algorithm that no
// finalist has. Records that come later compete with the finals. The finals of one task come in one transaction and
// share one id; the first of an id that is not the latest one opens new finals. record_range.cpp has the same rule for
// a part of the history. (No OR REPLACE in a trigger: the INSERT OR IGNORE that fires it would turn it into OR IGNORE.)
constexpr const char* kVersion5 = R"sql(
ALTER TABLE records ADD COLUMN finals TEXT NOT NULL DEFAULT '';
CREATE INDEX records_finals ON records(task, id) WHERE finals <> '';
CREATE TABLE finals(task TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL, cold_bytes INTEGER NOT NULL, finals TEXT NOT NULL,
    since INTEGER NOT NULL, PRIMARY KEY(task, target, device, cold_bytes)) WITHOUT ROWID;
ALTER TABLE fastest ADD COLUMN past INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN finals INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER records_counted;
CREATE TRIGGER records_counted AFTER INSERT ON records BEGIN
    INSERT OR IGNORE INTO totals(task, trials, errors) VALUES(NEW.task, 0, 0);
    UPDATE totals SET trials = trials + (NEW.finals = ''), finals = finals + (NEW.finals <> ''), errors = errors + (NEW.finals = '' AND NEW.code <> 'Ok')
        WHERE task = NEW.task;
END;
DROP TRIGGER records_uncounted;
CREATE TRIGGER records_uncounted AFTER DELETE ON records BEGIN
    UPDATE totals SET trials = trials - (OLD.finals = ''), finals = finals - (OLD.finals <> ''), errors = errors - (OLD.finals = '' AND OLD.code <> 'Ok')
        WHERE task = OLD.task;
END;
DROP TRIGGER records_compared;
CREATE TRIGGER records_compared AFTER INSERT ON records WHEN NEW.code = 'Ok' AND NEW.mean_ns IS NOT NULL BEGIN
    UPDATE fastest SET past = 1 WHERE NEW.finals <> '' AND task = NEW.task AND target = NEW.target AND device = NEW.device AND cold_bytes = NEW.cold_bytes
        AND NOT EXISTS (SELECT 1 FROM finals f WHERE f.task = NEW.task AND f.target = NEW.target AND f.device = NEW.device AND f.cold_bytes = NEW.cold_bytes
            AND f.finals = NEW.finals);
    DELETE FROM finals WHERE NEW.finals <> '' AND finals <> NEW.finals AND task = NEW.task AND target = NEW.target AND device = NEW.device
        AND cold_bytes = NEW.cold_bytes;
    INSERT OR IGNORE INTO finals SELECT NEW.task, NEW.target, NEW.device, NEW.cold_bytes, NEW.finals, NEW.id WHERE NEW.finals <> '';
    INSERT OR IGNORE INTO fastest VALUES(NEW.task, NEW.target, NEW.device, NEW.cold_bytes, NEW.alternative, NEW.id, NEW.mean_ns, NEW.id, 0);
    UPDATE fastest SET latest = NEW.id, record = iif(past OR NEW.mean_ns < mean_ns, NEW.id, record),
        mean_ns = iif(past OR NEW.mean_ns < mean_ns, NEW.mean_ns, mean_ns), past = 0
        WHERE task = NEW.task AND target = NEW.target AND device = NEW.device AND cold_bytes = NEW.cold_bytes AND alternative = NEW.alternative;
END;
DROP TRIGGER records_forgotten;
CREATE TRIGGER records_forgotten AFTER DELETE ON records WHEN OLD.code = 'Ok' BEGIN
    DELETE FROM finals WHERE OLD.finals <> '' AND task = OLD.task AND target = OLD.target AND device = OLD.device AND cold_bytes = OLD.cold_bytes;
    INSERT INTO finals SELECT task, target, device, cold_bytes, finals, min(id) FROM records WHERE OLD.finals <> '' AND task = OLD.task
        AND target = OLD.target AND device = OLD.device AND cold_bytes = OLD.cold_bytes AND code = 'Ok' AND mean_ns IS NOT NULL
        AND finals = (SELECT r.finals FROM records r WHERE r.task = OLD.task AND r.target = OLD.target AND r.device = OLD.device
            AND r.cold_bytes = OLD.cold_bytes AND r.code = 'Ok' AND r.mean_ns IS NOT NULL AND r.finals <> '' ORDER BY r.id DESC LIMIT 1) GROUP BY finals;
    DELETE FROM fastest WHERE task = OLD.task AND target = OLD.target AND device = OLD.device AND cold_bytes = OLD.cold_bytes
        AND (alternative = OLD.alternative OR OLD.finals <> '');
    INSERT INTO fastest SELECT task, target, device, cold_bytes, alternative, id, mean_ns, id, past FROM
        (SELECT *, row_number() OVER (PARTITION BY alternative ORDER BY past, mean_ns, id) AS place FROM
            (SELECT r.task, r.target, r.device, r.cold_bytes, r.alternative, r.id, r.mean_ns, r.id < coalesce((SELECT f.since FROM finals f
                WHERE f.task = OLD.task AND f.target = OLD.target AND f.device = OLD.device AND f.cold_bytes = OLD.cold_bytes), 0) AS past
                FROM records r WHERE r.task = OLD.task AND r.target = OLD.target AND r.device = OLD.device AND r.cold_bytes = OLD.cold_bytes
                AND (r.alternative = OLD.alternative OR OLD.finals <> '') AND r.code = 'Ok' AND r.mean_ns IS NOT NULL)) WHERE place = 1;
END;
DROP VIEW best;
CREATE VIEW best AS SELECT r.*, f.past AS past FROM fastest f JOIN records r ON r.id = f.record;
)sql";

// Costs compare among equal devices, whichever of them measured: records hold the key of the device's class beside its
// fingerprint, and what stands best is kept by key. Records of before get the key that a device has by its fingerprint.
// Two that differed by no more than where they were plugged in become one class, so who stands best is worked out anew,
// by the rule of version 5.
constexpr const char* kVersion6 = R"sql(
ALTER TABLE records ADD COLUMN device_key TEXT NOT NULL DEFAULT '';
CREATE TEMP TABLE device_keys(device TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO device_keys SELECT device, device_key_of(device) FROM (SELECT DISTINCT device FROM records);
UPDATE records SET device_key = (SELECT key FROM device_keys d WHERE d.device = records.device);
DROP TABLE device_keys;
DROP TRIGGER records_compared;
DROP TRIGGER records_forgotten;
DROP VIEW best;
DROP TABLE fastest;
DROP TABLE finals;
CREATE TABLE fastest(task TEXT NOT NULL, target TEXT NOT NULL, device_key TEXT NOT NULL, cold_bytes INTEGER NOT NULL,
    alternative TEXT NOT NULL, record INTEGER NOT NULL, mean_ns REAL NOT NULL, latest INTEGER NOT NULL, past INTEGER NOT NULL,
    PRIMARY KEY(task, target, device_key, cold_bytes, alternative)) WITHOUT ROWID;
CREATE TABLE finals(task TEXT NOT NULL, target TEXT NOT NULL, device_key TEXT NOT NULL, cold_bytes INTEGER NOT NULL, finals TEXT NOT NULL,
    since INTEGER NOT NULL, PRIMARY KEY(task, target, device_key, cold_bytes)) WITHOUT ROWID;
INSERT INTO finals SELECT task, target, device_key, cold_bytes, finals, min(id) FROM records r WHERE finals <> '' AND code = 'Ok'
    AND mean_ns IS NOT NULL AND finals = (SELECT l.finals FROM records l WHERE l.task = r.task AND l.target = r.target
        AND l.device_key = r.device_key AND l.cold_bytes = r.cold_bytes AND l.finals <> '' AND l.code = 'Ok' AND l.mean_ns IS NOT NULL
        ORDER BY l.id DESC LIMIT 1)
    GROUP BY task, target, device_key, cold_bytes, finals;
INSERT INTO fastest SELECT task, target, device_key, cold_bytes, alternative, id, mean_ns, latest, past FROM
    (SELECT *, row_number() OVER (PARTITION BY task, target, device_key, cold_bytes, alternative ORDER BY past, mean_ns, id) AS place,
        max(id) OVER (PARTITION BY task, target, device_key, cold_bytes, alternative) AS latest FROM
        (SELECT r.task, r.target, r.device_key, r.cold_bytes, r.alternative, r.id, r.mean_ns, r.id < coalesce(f.since, 0) AS past
            FROM records r LEFT JOIN finals f ON f.task = r.task AND f.target = r.target AND f.device_key = r.device_key
            AND f.cold_bytes = r.cold_bytes WHERE r.code = 'Ok' AND r.mean_ns IS NOT NULL)) WHERE place = 1;
CREATE TRIGGER records_compared AFTER INSERT ON records WHEN NEW.code = 'Ok' AND NEW.mean_ns IS NOT NULL BEGIN
    UPDATE fastest SET past = 1 WHERE NEW.finals <> '' AND task = NEW.task AND target = NEW.target AND device_key = NEW.device_key
        AND cold_bytes = NEW.cold_bytes AND NOT EXISTS (SELECT 1 FROM finals f WHERE f.task = NEW.task AND f.target = NEW.target
            AND f.device_key = NEW.device_key AND f.cold_bytes = NEW.cold_bytes AND f.finals = NEW.finals);
    DELETE FROM finals WHERE NEW.finals <> '' AND finals <> NEW.finals AND task = NEW.task AND target = NEW.target
        AND device_key = NEW.device_key AND cold_bytes = NEW.cold_bytes;
    INSERT OR IGNORE INTO finals SELECT NEW.task, NEW.target, NEW.device_key, NEW.cold_bytes, NEW.finals, NEW.id WHERE NEW.finals <> '';
    INSERT OR IGNORE INTO fastest VALUES(NEW.task, NEW.target, NEW.device_key, NEW.cold_bytes, NEW.alternative, NEW.id, NEW.mean_ns, NEW.id, 0);
    UPDATE fastest SET latest = NEW.id, record = iif(past OR NEW.mean_ns < mean_ns, NEW.id, record),
        mean_ns = iif(past OR NEW.mean_ns < mean_ns, NEW.mean_ns, mean_ns), past = 0
        WHERE task = NEW.task AND target = NEW.target AND device_key = NEW.device_key AND cold_bytes = NEW.cold_bytes
        AND alternative = NEW.alternative;
END;
CREATE TRIGGER records_forgotten AFTER DELETE ON records WHEN OLD.code = 'Ok' BEGIN
    DELETE FROM finals WHERE OLD.finals <> '' AND task = OLD.task AND target = OLD.target AND device_key = OLD.device_key
        AND cold_bytes = OLD.cold_bytes;
    INSERT INTO finals SELECT task, target, device_key, cold_bytes, finals, min(id) FROM records WHERE OLD.finals <> '' AND task = OLD.task
        AND target = OLD.target AND device_key = OLD.device_key AND cold_bytes = OLD.cold_bytes AND code = 'Ok' AND mean_ns IS NOT NULL
        AND finals = (SELECT r.finals FROM records r WHERE r.task = OLD.task AND r.target = OLD.target AND r.device_key = OLD.device_key
            AND r.cold_bytes = OLD.cold_bytes AND r.code = 'Ok' AND r.mean_ns IS NOT NULL AND r.finals <> '' ORDER BY r.id DESC LIMIT 1)
        GROUP BY finals;
    DELETE FROM fastest WHERE task = OLD.task AND target = OLD.target AND device_key = OLD.device_key AND cold_bytes = OLD.cold_bytes
        AND (alternative = OLD.alternative OR OLD.finals <> '');
    INSERT INTO fastest SELECT task, target, device_key, cold_bytes, alternative, id, mean_ns, id, past FROM
        (SELECT *, row_number() OVER (PARTITION BY alternative ORDER BY past, mean_ns, id) AS place FROM
            (SELECT r.task, r.target, r.device_key, r.cold_bytes, r.alternative, r.id, r.mean_ns, r.id < coalesce((SELECT f.since FROM finals f
                WHERE f.task = OLD.task AND f.target = OLD.target AND f.device_key = OLD.device_key AND f.cold_bytes = OLD.cold_bytes), 0) AS past
                FROM records r WHERE r.task = OLD.task AND r.target = OLD.target AND r.device_key = OLD.device_key
                AND r.cold_bytes = OLD.cold_bytes AND (r.alternative = OLD.alternative OR OLD.finals <> '') AND r.code = 'Ok'
                AND r.mean_ns IS NOT NULL)) WHERE place = 1;
END;
CREATE VIEW best AS SELECT r.*, f.past AS past FROM fastest f JOIN records r ON r.id = f.record;
)sql";

// What a failure's text is about: JSON (support/message.h), for other languages; empty in records of before.
constexpr const char* kVersion7 = R"sql(
ALTER TABLE records ADD COLUMN about TEXT NOT NULL DEFAULT '';
)sql";

// Which model is worked on, and for what: a model comes back in other sizes, so that the youngest row is not always the
// latest. `used` counts up.
constexpr const char* kVersion8 = R"sql(
ALTER TABLE models ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE models ADD COLUMN target TEXT NOT NULL DEFAULT '';
UPDATE models SET used = id,
    target = coalesce((SELECT target FROM sessions WHERE sessions.model = models.id ORDER BY sessions.id DESC LIMIT 1), '');
)sql";

// What changing a tensor's layout takes, by the processor that does it: measured once, for the choice of layouts over a
// whole network.
constexpr const char* kVersion9 = R"sql(
CREATE TABLE IF NOT EXISTS conversions(processor TEXT NOT NULL, conversion TEXT NOT NULL, seconds REAL NOT NULL, runs INTEGER NOT NULL,
    PRIMARY KEY(processor, conversion)) WITHOUT ROWID;
)sql";

} // namespace

const std::array<const char*, static_cast<std::size_t>(kSchemaVersion)> kSchemaSteps = {
    kVersion1, kVersion2, kVersion3, kVersion4, kVersion5, kVersion6, kVersion7, kVersion8, kVersion9};

} // namespace lathe::store
