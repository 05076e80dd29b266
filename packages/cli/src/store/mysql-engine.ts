import { mysqlDeadLetters, type MysqlPool, mysqlStore } from '@call-webhooks/mysql';
import type { StoreReport } from '@call-webhooks/core/stores';
import type { Engine } from './engine.ts';
import {
  type ClientPackage,
  CONNECT_WITHIN_MS,
  type Connection,
  onAbort,
  openWithInstalled,
} from './installed-client.ts';

type Mysql = Connection<MysqlPool> & {
  readonly rows: (text: string) => Promise<unknown[]>;
};

const MYSQL: ClientPackage<Promise<Mysql>>[] = [
  {
    name: 'mysql2',
    async open({ createPool }: typeof import('mysql2'), url, givenUp) {
      const pool = createPool({
        uri: url.replace(/^mariadb:/, 'mysql:'),
        connectTimeout: CONNECT_WITHIN_MS,
        connectionLimit: 4,
      });
      pool.on('connection', (connection) => {
        onAbort(givenUp, () => {
          connection.destroy();
        });
      });
      const promises = pool.promise();
      (await promises.getConnection()).release();
      const rows = async (text: string) => (await promises.query(text))[0] as unknown[];
      return { client: pool, close: () => promises.end(), rows };
    },
  },
];

async function mysqlReport({ rows }: Mysql): Promise<StoreReport> {
  const [row] = await rows('SELECT VERSION() AS version, @@read_only AS readOnly');
  const { version, readOnly } = row as { version: string; readOnly: number };
  const problem = {
    result: 'bad' as const,
    text: 'The server is a replica or read-only, so a receiver cannot write to it.',
    fix: 'Use the URL of the primary.',
  };
  const server = version.includes('MariaDB') ? version.replace(/-MariaDB.*/, '') : version;
  return {
    server: `${server === version ? 'MySQL' : 'MariaDB'} ${server}`,
    problems: readOnly ? [problem] : [],
  };
}

export const openMysql: Engine = async ({ url, prefix, givenUp }) => {
  const connection = await openWithInstalled(MYSQL, url, givenUp);
  const store = mysqlStore(connection.client, { prefix });
  return {
    store,
    deadLetters: mysqlDeadLetters(connection.client, { prefix }),
    inspect: () => mysqlReport(connection),
    async close() {
      await store.close();
      await connection.close();
    },
  };
};
