-- The schema of version 3, as the migrations make it.

CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    uid TEXT NOT NULL,
    history_uid TEXT NOT NULL,
    created_at REAL NOT NULL
);

CREATE TABLE workspace (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    created_at REAL NOT NULL
);

CREATE TABLE workspace_root (
    kind TEXT NOT NULL CHECK (kind IN ('path', 'remote')),
    value TEXT NOT NULL,
    workspace_id INTEGER NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    PRIMARY KEY (kind, value)
) WITHOUT ROWID;

CREATE TABLE memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    workspace_id INTEGER NOT NULL REFERENCES workspace(id),
    kind TEXT NOT NULL,
    importance REAL NOT NULL,
    pinned INTEGER NOT NULL,
    private INTEGER NOT NULL,
    sentiment TEXT,
    polarity INTEGER NOT NULL,
    source TEXT NOT NULL,
    trust TEXT NOT NULL,
    review_state TEXT,
    session_id TEXT,
    position INTEGER,
    persona_id TEXT,
    user_id TEXT,
    agent TEXT,
    origin TEXT,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    event_time REAL,
    expires_at REAL,
    archived_at REAL,
    superseded_by INTEGER REFERENCES memory(id) ON DELETE SET NULL,
    superseded_at REAL,
    deleted_at REAL,
    revision INTEGER NOT NULL,
    content_hash TEXT NOT NULL
);

CREATE INDEX memory_by_workspace ON memory(workspace_id, created_at);

CREATE INDEX memory_by_time ON memory(created_at, id);

CREATE INDEX memory_by_hash ON memory(content_hash);

CREATE INDEX memory_by_short_uid ON memory(substr(uid, -8));

CREATE INDEX memory_by_session ON memory(session_id, position)
    WHERE session_id IS NOT NULL;

CREATE INDEX memory_in_trash ON memory(deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX memory_by_successor ON memory(superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE memory_body (
    memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    summary TEXT,
    persona_summary TEXT,
    topics TEXT NOT NULL,
    participants TEXT NOT NULL,
    key_facts TEXT NOT NULL,
    tags TEXT NOT NULL,
    details TEXT,
    source_ref TEXT
);

CREATE TABLE memory_label (
    field TEXT NOT NULL,
    folded TEXT NOT NULL,
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    PRIMARY KEY (field, folded, memory_id)
) WITHOUT ROWID;

CREATE INDEX memory_label_by_memory ON memory_label(memory_id);

CREATE TABLE memory_strength (
    memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE,
    importance_now REAL NOT NULL,
    salience REAL NOT NULL,
    last_access REAL,
    access_count INTEGER NOT NULL,
    access_window REAL NOT NULL
    , decayed_until REAL NOT NULL DEFAULT 0);

CREATE VIRTUAL TABLE memory_fts USING fts5(
    words, chars, content='', columnsize=0, tokenize="ascii tokenchars '!""#$%&''''()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE TABLE fts_row (
    id INTEGER PRIMARY KEY,
    segmenter_id TEXT NOT NULL,
    word_count INTEGER NOT NULL,
    words TEXT NOT NULL,
    chars TEXT NOT NULL
    , workspace_id INTEGER NOT NULL DEFAULT 0);

CREATE TABLE space (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    dims INTEGER NOT NULL,
    created_at REAL NOT NULL,
    completed_at REAL
);

CREATE TABLE piece (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_kind TEXT NOT NULL,
    owner_id INTEGER NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    space_id INTEGER NOT NULL REFERENCES space(id),
    content_hash TEXT NOT NULL,
    vector BLOB NOT NULL
);

CREATE INDEX piece_by_owner ON piece(owner_kind, owner_id, space_id);

CREATE INDEX piece_by_hash ON piece(space_id, content_hash);

CREATE TABLE pending_embedding (
    owner_kind TEXT NOT NULL,
    owner_id INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at REAL NOT NULL,
    failed_reason TEXT,
    PRIMARY KEY (owner_kind, owner_id)
) WITHOUT ROWID;

CREATE TABLE journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    group_uid TEXT NOT NULL,
    at REAL NOT NULL,
    operation TEXT NOT NULL,
    actor TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id INTEGER NOT NULL,
    subject_uid TEXT NOT NULL,
    changes TEXT NOT NULL
    , other_id INTEGER, undoes INTEGER);

CREATE INDEX journal_by_subject ON journal(subject_kind, subject_id, id);

CREATE INDEX journal_by_group ON journal(group_uid);

CREATE TABLE change (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_kind TEXT NOT NULL,
    subject_id INTEGER NOT NULL,
    UNIQUE (subject_kind, subject_id)
);

CREATE TABLE tombstone (
    uid TEXT PRIMARY KEY,
    at REAL NOT NULL,
    origin TEXT
) WITHOUT ROWID;

CREATE TABLE process (
    token TEXT PRIMARY KEY,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    client TEXT NOT NULL,
    version TEXT NOT NULL,
    config_version TEXT NOT NULL,
    started_at REAL NOT NULL,
    last_seen REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE atom (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspace(id),
    type TEXT NOT NULL,
    text TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    confidence REAL NOT NULL,
    importance REAL NOT NULL,
    polarity INTEGER NOT NULL,
    event_time REAL,
    deadline REAL,
    created_at REAL NOT NULL,
    refreshed_at REAL NOT NULL,
    ttl_days REAL NOT NULL,
    expires_at REAL,
    curve TEXT NOT NULL,
    state TEXT NOT NULL,
    state_changed_at REAL NOT NULL,
    superseded_by INTEGER REFERENCES atom(id) ON DELETE SET NULL,
    reinforced INTEGER NOT NULL,
    rule TEXT NOT NULL,
    needs_repair INTEGER NOT NULL
);

CREATE INDEX atom_by_hash ON atom(workspace_id, content_hash);

CREATE INDEX atom_by_state ON atom(state, expires_at);

CREATE INDEX atom_by_successor ON atom(superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE atom_mention (
    atom_id INTEGER NOT NULL REFERENCES atom(id) ON DELETE CASCADE,
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    at REAL NOT NULL,
    PRIMARY KEY (atom_id, memory_id)
) WITHOUT ROWID;

CREATE INDEX atom_mention_by_memory ON atom_mention(memory_id);

CREATE TABLE graph_node (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL CHECK (type IN ('person', 'topic', 'fact')),
    canonical TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at REAL NOT NULL,
    UNIQUE (type, canonical)
);

CREATE TABLE graph_alias (
    type TEXT NOT NULL,
    alias TEXT NOT NULL,
    canonical TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('config', 'merge', 'rename')),
    PRIMARY KEY (type, alias)
) WITHOUT ROWID;

CREATE INDEX graph_alias_by_canonical ON graph_alias(type, canonical);

CREATE TABLE graph_mention (
    node_id INTEGER NOT NULL REFERENCES graph_node(id) ON DELETE CASCADE,
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    PRIMARY KEY (node_id, memory_id)
) WITHOUT ROWID;

CREATE INDEX graph_mention_by_memory ON graph_mention(memory_id);

CREATE TABLE graph_edge (
    id INTEGER PRIMARY KEY,
    source_id INTEGER NOT NULL REFERENCES graph_node(id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES graph_node(id) ON DELETE CASCADE,
    relation TEXT NOT NULL
        CHECK (relation IN ('describes', 'mentioned_in', 'co_occurs_with')),
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    confidence REAL NOT NULL,
    weight REAL NOT NULL,
    CHECK (source_id <> target_id),
    UNIQUE (source_id, target_id, relation, memory_id)
);

CREATE INDEX graph_edge_by_source ON graph_edge(source_id);

CREATE INDEX graph_edge_by_target ON graph_edge(target_id);

CREATE INDEX graph_edge_by_memory ON graph_edge(memory_id);

CREATE TABLE graph_entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content_hash TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL
);

CREATE TABLE graph_entry_memory (
    entry_id INTEGER NOT NULL REFERENCES graph_entry(id) ON DELETE CASCADE,
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    node_id INTEGER REFERENCES graph_node(id) ON DELETE CASCADE,
    edge_id INTEGER REFERENCES graph_edge(id) ON DELETE CASCADE
);

CREATE INDEX graph_entry_memory_by_entry ON graph_entry_memory(entry_id);

CREATE INDEX graph_entry_memory_by_memory ON graph_entry_memory(memory_id);

CREATE INDEX graph_entry_memory_by_node ON graph_entry_memory(node_id);

CREATE INDEX graph_entry_memory_by_edge ON graph_entry_memory(edge_id);

CREATE TABLE memory_layers (
    memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE,
    rules_version TEXT NOT NULL
);

CREATE TABLE judgment (
    id INTEGER PRIMARY KEY,
    query TEXT NOT NULL,
    folded_query TEXT NOT NULL,
    memory_uid TEXT NOT NULL,
    relevant INTEGER NOT NULL,
    grade REAL,
    category TEXT,
    workspace TEXT NOT NULL,
    at REAL NOT NULL,
    actor TEXT NOT NULL,
    UNIQUE (folded_query, workspace, memory_uid)
);

CREATE VIRTUAL TABLE atom_fts USING fts5(
    words, chars, content='', columnsize=0, tokenize="ascii tokenchars '!""#$%&''''()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE VIRTUAL TABLE entry_fts USING fts5(
    words, chars, content='', columnsize=0, tokenize="ascii tokenchars '!""#$%&''''()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE TABLE atom_fts_row (
    id INTEGER PRIMARY KEY,
    workspace_id INTEGER NOT NULL,
    segmenter_id TEXT NOT NULL,
    word_count INTEGER NOT NULL,
    words TEXT NOT NULL,
    chars TEXT NOT NULL
);

CREATE TABLE entry_fts_row (
    id INTEGER PRIMARY KEY,
    workspace_id INTEGER NOT NULL,
    segmenter_id TEXT NOT NULL,
    word_count INTEGER NOT NULL,
    words TEXT NOT NULL,
    chars TEXT NOT NULL
);

CREATE TABLE fts_total (
    name TEXT NOT NULL,
    workspace_id INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    word_count INTEGER NOT NULL,
    PRIMARY KEY (name, workspace_id)
) WITHOUT ROWID;

CREATE TABLE term (
    term TEXT NOT NULL,
    field TEXT NOT NULL,
    workspace_id INTEGER NOT NULL,
    document_frequency INTEGER NOT NULL,
    PRIMARY KEY (field, term, workspace_id)
) WITHOUT ROWID;

CREATE INDEX memory_by_moment ON memory(coalesce(event_time, created_at));

CREATE INDEX journal_by_other ON journal(other_id, id) WHERE other_id IS NOT NULL;

CREATE INDEX journal_by_undone ON journal(undoes) WHERE undoes IS NOT NULL;

CREATE INDEX memory_by_expiry ON memory(expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE link (
    source_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (source_id, target_id, relation),
    CHECK (source_id <> target_id)
) WITHOUT ROWID;

CREATE INDEX link_by_target ON link(target_id);

CREATE TABLE fact (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,
    workspace_id INTEGER NOT NULL REFERENCES workspace(id),
    subject TEXT NOT NULL,
    subject_key TEXT NOT NULL,
    predicate TEXT NOT NULL,
    predicate_key TEXT NOT NULL,
    object TEXT NOT NULL,
    object_key TEXT NOT NULL,
    valid_from REAL,
    valid_to REAL,
    confidence REAL NOT NULL,
    memory_id INTEGER REFERENCES memory(id) ON DELETE SET NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);

CREATE INDEX fact_by_subject ON fact(subject_key, predicate_key);

CREATE INDEX fact_by_object ON fact(object_key, predicate_key);

CREATE INDEX fact_by_memory ON fact(memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE job (
    name TEXT PRIMARY KEY,
    last_run_at REAL,
    last_success_at REAL,
    last_error TEXT
) WITHOUT ROWID;

CREATE TABLE job_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    actor TEXT NOT NULL,
    report TEXT NOT NULL
);

CREATE TABLE ingested_file (
    workspace_id INTEGER NOT NULL REFERENCES workspace(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (workspace_id, path)
) WITHOUT ROWID;
