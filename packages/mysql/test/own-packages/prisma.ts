import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { getPrismaClient, type GetPrismaClientConfig } from '@prisma/client/runtime/client';
import { config } from './prisma-config.generated.ts';

/** The part of the generated types that the tests use. */
interface EffectClient {
  effect: { create(query: { data: { effect: string } }): Promise<unknown> };
  $queryRawUnsafe(text: string): Promise<unknown>;
}
export interface PrismaClient extends EffectClient {
  $transaction(work: (tx: EffectClient) => Promise<void>): Promise<void>;
  $disconnect(): Promise<void>;
}

/** @param table the one of effects */
export function openPrisma(url: string, table: string): PrismaClient {
  const text = JSON.stringify(config.runtimeDataModel).replace('"effects"', `"${table}"`);
  const ofTable = {
    ...config,
    inlineSchema: config.inlineSchema.replace('"effects"', `"${table}"`),
    runtimeDataModel: JSON.parse(text) as typeof config.runtimeDataModel,
  };
  const Client = getPrismaClient(ofTable as GetPrismaClientConfig) as unknown as new (
    options: object,
  ) => PrismaClient;
  return new Client({ adapter: new PrismaMariaDb(url.replace('mysql:', 'mariadb:')) });
}
