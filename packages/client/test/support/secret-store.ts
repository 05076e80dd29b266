import type { SecretStore, StoredSecret } from '../../src/rotate-into.ts';

/** A store in memory, which fails when it is told to. */
export class TestStore implements SecretStore {
  secrets: readonly StoredSecret[];
  readonly saves: (readonly StoredSecret[])[] = [];
  failLoad: Error | undefined;
  /** Called before each save, with its number from 1; throws to make it fail. */
  beforeSave: (number: number, secrets: readonly StoredSecret[]) => void | Promise<void> = () =>
    undefined;

  constructor(...secrets: StoredSecret[]) {
    this.secrets = secrets;
  }

  async load(): Promise<readonly StoredSecret[]> {
    if (this.failLoad) throw this.failLoad;
    return this.secrets;
  }

  async save(secrets: readonly StoredSecret[]): Promise<void> {
    this.saves.push(secrets);
    await this.beforeSave(this.saves.length, secrets);
    this.secrets = secrets;
  }
}
