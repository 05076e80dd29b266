/** What is used of the storage of a Durable Object with SQLite. */
export interface ObjectStorage {
  readonly sql: {
    exec(query: string, ...values: (string | number | null)[]): { toArray(): object[] };
  };
  transactionSync<Result>(work: () => Result): Result;
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
}

/** What is used of the state of a Durable Object. */
export interface ObjectState {
  readonly storage: ObjectStorage;
}

/**
 * Stands in for the class of `cloudflare:workers` outside of workerd, where tools and tests import the
 * code of a Worker.
 */
export class DurableObject<Env = unknown> {
  /** This is how the types of Workers recognize the class of an object. */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  protected readonly ctx: ObjectState;
  protected readonly env: Env;

  constructor(ctx: ObjectState, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }
}
