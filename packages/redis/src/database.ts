/** What is used of a client of ioredis, which may be behind a proxy of BullMQ. */
interface SelectingClient {
  readonly isCluster?: boolean;
  readonly options: { readonly db?: unknown };
  select(db: number): Promise<unknown>;
  on(event: 'close', listener: () => void): unknown;
}

/** The answer of each client's server, until its connection ends. */
const answers = new WeakMap<object, Promise<void>>();

/**
 * ioredis goes on with database 0 if the server refuses the one of its URL. So the server is asked once
 * for each connection whether it has that database.
 * @throws Error that names the database
 */
export async function checkDatabase(client: unknown): Promise<void> {
  if (!isSelecting(client)) return;
  const db = Number(client.options.db);
  if (client.isCluster === true || !(db > 0)) return;
  let answer = answers.get(client);
  if (!answer) {
    answer = client.select(db).then(
      () => undefined,
      (error: unknown) => {
        answers.delete(client); // asked again by the next call
        throw refused(db, error);
      },
    );
    answers.set(client, answer);
    if (!listened.has(client)) client.on('close', () => answers.delete(client));
    listened.add(client);
  }
  await answer;
}

const listened = new WeakSet();

/** An outage is no answer of the server. */
function refused(db: number, error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return error;
  return new Error(
    `The server has no database ${String(db)}, or its user may not select it: ${error.message.replace(/\.?$/, '.')} ioredis would use database 0 instead. Correct the number in the URL, or raise "databases" in the configuration of the server.`,
    { cause: error },
  );
}

const isSelecting = (client: unknown): client is SelectingClient & object => {
  const { select, on, options } = Object(client) as Partial<SelectingClient>;
  return typeof select === 'function' && typeof on === 'function' && Object(options) === options;
};
