/** The options of a job that we set. */
export interface PgBossSendOptions {
  id: string;
  retryLimit: number;
  retryDelay: number;
  retryBackoff: boolean;
  expireInSeconds: number;
  retentionDays: number;
  deadLetter?: string;
}

/** A job as pg-boss hands it out with `includeMetadata`. */
export interface PgBossJob {
  id: string;
  data: unknown;
  retryCount: number;
  retryLimit: number;
  expireInSeconds: number;
  /** The queue for what is given up on; null where none was named. */
  deadLetter: string | null;
  createdOn: Date | string;
  /** When pg-boss drops it. */
  keepUntil: Date | string;
  /** What the run before was settled with; pg-boss's own text where that expired. */
  output: { givenBack?: unknown } | null;
}

/** What we call of pg-boss 10. */
export interface PgBossClient {
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object, options: object): Promise<string | null>;
  getJobById(name: string, id: string, options: { includeArchive: boolean }): Promise<unknown>;
  getQueue(name: string): Promise<unknown>;
  fetch(
    name: string,
    options: { batchSize: number; includeMetadata: true; priority: boolean },
  ): Promise<unknown[]>;
  complete(name: string, id: string, output?: object): Promise<unknown>;
  fail(name: string, id: string, data: object): Promise<unknown>;
}
