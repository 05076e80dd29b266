import { drizzle } from 'drizzle-orm/mysql2';
import { mysqlTable, text } from 'drizzle-orm/mysql-core';
import createKnex from 'knex';
import { Kysely, MysqlDialect } from 'kysely';
import { createPool } from 'mysql2';
import { DataTypes, Sequelize } from 'sequelize';
import { DataSource, EntitySchema, EntitySchemaOptions } from 'typeorm';
import type { Clients } from '../effects.ts';
import { openPrisma } from './prisma.ts';

/** The other clients that `completeIn` is promised for. */
export const CLIENTS: Clients = {
  Drizzle(uri, table) {
    const pool = createPool({ uri });
    const root = drizzle({ client: pool });
    const effects = mysqlTable(table, { effect: text().notNull() });
    return {
      client: root,
      transact: (work) =>
        root.transaction((tx) =>
          work({ tx, write: (effect) => tx.insert(effects).values({ effect }) }),
        ),
      close: () => pool.promise().end(),
    };
  },
  Kysely(uri, table) {
    const root = new Kysely<Record<string, { effect: string }>>({
      dialect: new MysqlDialect({ pool: createPool({ uri }) }),
    });
    return {
      client: root,
      transact: (work) =>
        root.transaction().execute((trx) =>
          work({
            tx: trx,
            write: (effect) => trx.insertInto(table).values({ effect }).execute(),
          }),
        ),
      close: () => root.destroy(),
    };
  },
  Knex(url, table) {
    const root = createKnex.default({ client: 'mysql2', connection: url });
    return {
      client: root,
      transact: (work) =>
        root.transaction((trx) =>
          work({ tx: trx, write: async (effect) => trx(table).insert({ effect }) }),
        ),
      close: () => root.destroy(),
    };
  },
  Prisma(url, table) {
    const root = openPrisma(url, table);
    return {
      client: root,
      transact: (work) =>
        root.$transaction((tx) =>
          work({ tx, write: (effect) => tx.effect.create({ data: { effect } }) }),
        ),
      close: () => root.$disconnect(),
    };
  },
  Sequelize(url, table) {
    const root = new Sequelize(url, { dialect: 'mysql', logging: false });
    const Effect = root.define(
      'Effect',
      { effect: DataTypes.TEXT },
      { tableName: table, timestamps: false },
    );
    Effect.removeAttribute('id');
    return {
      client: root,
      transact: (work) =>
        root.transaction((transaction) =>
          work({ tx: transaction, write: (effect) => Effect.create({ effect }, { transaction }) }),
        ),
      close: () => root.close(),
    };
  },
  TypeORM(url, table) {
    const options = new EntitySchemaOptions<{ number?: number; effect: string }>();
    const Effect = new EntitySchema(
      Object.assign(options, {
        name: table,
        columns: {
          number: { type: Number, primary: true, generated: true },
          effect: { type: 'longtext' },
        } as const,
      }),
    );
    const root = new DataSource({ type: 'mysql', url, entities: [Effect] });
    const ready = root.initialize();
    return {
      client: root,
      async transact(work) {
        await ready;
        await root.transaction((manager) =>
          work({ tx: manager, write: (effect) => manager.insert(Effect, { effect }) }),
        );
      },
      close: () => root.destroy(),
    };
  },
};
