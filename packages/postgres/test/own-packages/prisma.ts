import { PrismaPg } from '@prisma/adapter-pg';
import { getPrismaClient, type GetPrismaClientConfig } from '@prisma/client/runtime/client';
import { config } from './prisma-config.generated.ts';

/** The part of the generated types that the tests use. */
interface EffectClient {
  effect: { create(query: { data: { effect: string } }): Promise<unknown> };
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
}
export interface PrismaClient extends EffectClient {
  $transaction(work: (tx: EffectClient) => Promise<void>): Promise<void>;
  $disconnect(): Promise<void>;
}

/** @param schema the Postgres schema that has the table of effects */
export function openPrisma(connectionString: string, schema: string): PrismaClient {
  const Client = getPrismaClient(config as GetPrismaClientConfig) as unknown as new (
    options: object,
  ) => PrismaClient;
  // As in docs/exactly-once.md, with more time for a busy machine.
  const adapter = new PrismaPg(
    { connectionString, connectionTimeoutMillis: 10_000, query_timeout: 10_000 },
    { schema },
  );
  return new Client({ adapter });
}
