import type { Admission } from '@call-webhooks/core/stores';
import { TurnBatch, type BatchedCall } from '@call-webhooks/core/internal';
import { rowsOf, type PostgresClient } from './client.ts';
import { preparing } from './prepared.ts';
import type { statements } from './statements.ts';

/** A claim without a group. The texts are storable. */
export interface StorableClaim {
  id: string;
  token: string;
  keepIdMs: number;
  key: string | null;
  leaseMs: number;
}

interface Commit {
  key: string;
  token: string;
  deadLettered: boolean;
}

export interface AdmissionRow {
  status: Admission['status'];
  attempt: number;
}

const MAX_BATCH = 64;

/** How the calls of a batch are made. */
interface Ways<Call, Answer> {
  /** The rows that a call writes. */
  rows: (call: Call) => (string | null)[];
  /** Calls that write different rows. */
  together: (calls: readonly Call[]) => Promise<Answer[]>;
  alone: (call: Call) => Promise<Answer>;
}

/**
 * Makes the claims of one turn of the event loop with one statement, and its commits with another
 * (decision 12).
 */
export class StoreCalls {
  readonly #client: PostgresClient;
  readonly #prepared: PostgresClient;
  readonly #sql: ReturnType<typeof statements>;
  readonly #rememberFor: number;
  readonly #claims = new TurnBatch<StorableClaim, AdmissionRow>(MAX_BATCH, (batch) => {
    runBatch(batch, {
      rows: ({ id, key }) => [`id ${id}`, key && `key ${key}`],
      together: (claims) => this.#admitTogether(claims),
      alone: (claim) => this.#admitAlone(claim),
    });
  });
  readonly #commits = new TurnBatch<Commit, boolean>(MAX_BATCH, (batch) => {
    runBatch(batch, {
      rows: ({ key }) => [key],
      together: (commits) => this.#completeTogether(commits),
      alone: ({ key, token, deadLettered }) =>
        this.change(deadLettered ? this.#sql.deadLetter : this.#sql.complete, key, token),
    });
  });

  /** @param rememberFor how long a handled event is known; milliseconds */
  constructor(client: PostgresClient, sql: ReturnType<typeof statements>, rememberFor: number) {
    this.#client = client;
    this.#prepared = preparing(client);
    this.#sql = sql;
    this.#rememberFor = rememberFor;
  }

  admit(claim: StorableClaim): Promise<AdmissionRow> {
    return this.#claims.add(claim);
  }

  /** Alone: it may have to lock a second event. */
  admitInGroup(claim: StorableClaim, group: string): Promise<AdmissionRow> {
    return this.#admitAlone(claim, group);
  }

  complete(key: string, token: string, deadLettered: boolean): Promise<boolean> {
    return this.#commits.add({ key, token, deadLettered });
  }

  /** Runs a statement that gives a row if the lease is held. */
  async change(text: string, ...values: unknown[]): Promise<boolean> {
    const rows = await rowsOf<{ held: 1 }>(this.#prepared, text, values, ['held']);
    return rows.length > 0;
  }

  async #admitAlone(claim: StorableClaim, group?: string): Promise<AdmissionRow> {
    const { id, token, keepIdMs, key, leaseMs } = claim;
    const values = [id, token, keepIdMs, key, leaseMs, this.#rememberFor];
    if (group !== undefined) values.push(group);
    const text = group === undefined ? this.#sql.admit : this.#sql.admitInGroup;
    const columns: (keyof AdmissionRow)[] = ['status', 'attempt'];
    const [row] = await rowsOf<AdmissionRow>(this.#prepared, text, values, columns);
    if (!row) throw new Error('Postgres gave no row for a claim.');
    return row;
  }

  // Without a name: its plan depends on how large the tables are.
  async #admitTogether(claims: readonly StorableClaim[]): Promise<AdmissionRow[]> {
    type Row = AdmissionRow & { id: string };
    const values = [JSON.stringify(claims), this.#rememberFor];
    const columns: (keyof Row)[] = ['id', 'status', 'attempt'];
    const rows = await rowsOf<Row>(this.#client, this.#sql.admitBatch, values, columns);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return claims.map(({ id }) => {
      const row = byId.get(id);
      if (!row) throw new Error('Postgres gave no row for a claim.');
      return row;
    });
  }

  async #completeTogether(commits: readonly Commit[]): Promise<boolean[]> {
    const values = [JSON.stringify(commits)];
    const rows = await rowsOf<{ held: string }>(this.#client, this.#sql.completeBatch, values, [
      'held',
    ]);
    const held = new Set(rows.map((row) => row.held));
    return commits.map(({ key }) => held.has(key));
  }
}

/** Settles each call. Those that write a row which another one writes are made alone. */
function runBatch<Call, Answer>(
  batch: readonly BatchedCall<Call, Answer>[],
  { rows, together, alone }: Ways<Call, Answer>,
): void {
  const makeAlone = (calls: readonly BatchedCall<Call, Answer>[]) => {
    for (const { call, resolve, reject } of calls) alone(call).then(resolve, reject);
  };
  const written = new Set<string>();
  const apart: BatchedCall<Call, Answer>[] = [];
  const others = batch.filter((one) => {
    const names = rows(one.call).filter((name) => name !== null);
    const isOther = !names.some((name) => written.has(name));
    if (isOther) for (const name of names) written.add(name);
    else apart.push(one);
    return isOther;
  });
  if (others.length === 1) makeAlone(others);
  else
    together(others.map(({ call }) => call)).then(
      (answers) => {
        for (const [index, { resolve }] of others.entries()) resolve(answers[index] as Answer);
      },
      (error: unknown) => {
        if (isOfOneRow(error)) makeAlone(others);
        else for (const { reject } of others) reject(error);
      },
    );
  makeAlone(apart);
}

/**
 * Whether the calls of a failed batch may fare better alone: the server refused its statement and rolled
 * it back, because of one row's data, or a lock that was not free in time. Not so where the connection
 * (class 08) or the server (53, 57) was the trouble.
 */
function isOfOneRow(error: unknown, depth = 0): boolean {
  const { code, meta, cause } = Object(error) as Record<string, unknown>;
  if (/^\d[\dA-Z]{4}$/.test(String(code))) return !/^(?:08|53|57)/.test(String(code));
  // Clients wrap the error of the server: Prisma has its code in `meta`.
  return [meta, cause].some(
    (inner) => inner !== undefined && depth < 5 && isOfOneRow(inner, depth + 1),
  );
}
