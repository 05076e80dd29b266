import { CallWebhooksStore, durableObjectStore, type ObjectNamespace } from '../../../src/index.ts';

/** The bindings of this Worker. */
interface Env {
  STORE: ObjectNamespace;
  /** A Worker with the same code, in an isolate of its own, that uses the objects of the first. */
  OTHER?: { fetch(request: Request): Promise<Response> };
}

/** A call of a store's method, or of the test's own methods of the object. */
interface Call {
  method: string;
  args: unknown[];
  /** How far the clock of the receiver is ahead; milliseconds. */
  clockAhead?: number;
}

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** How far the clock of the objects is ahead; milliseconds. */
let ahead = 0;
let sweepEvery: number | undefined;
let plannedBySweep: number | null | undefined;

/** The object with a clock that tests control, and a view of its tables. */
export class TestStore extends CallWebhooksStore {
  protected override now(): number {
    return super.now() + ahead;
  }

  protected override sweepEvery(): number {
    return sweepEvery ?? super.sweepEvery();
  }

  /** Sweeps now, and then every few milliseconds. */
  async sweepOften(): Promise<void> {
    sweepEvery = 50;
    await this.ctx.storage.setAlarm(Date.now());
  }

  advance(ms: number): void {
    ahead += ms;
  }

  rows(): object[] {
    const tables = ['ids', 'events', 'groups', 'bodies'];
    return tables.flatMap((table) => this.ctx.storage.sql.exec(`SELECT * FROM ${table}`).toArray());
  }

  override async alarm(): Promise<void> {
    await super.alarm();
    plannedBySweep = await this.ctx.storage.getAlarm();
  }

  /** When the last sweep planned the next one. */
  nextSweep(): number | null | undefined {
    return plannedBySweep;
  }
}

export default {
  async fetch(request: Request, { STORE, OTHER }: Env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === '/other' && OTHER)
      return OTHER.fetch(new Request(new URL('/', url), request));
    const { method, args, clockAhead = 0 } = (await request.json()) as Call;
    const now = () => Date.now() + clockAhead;
    const store = durableObjectStore(STORE, { now }) as unknown as Methods;
    const own = STORE.get(STORE.idFromName('call-webhooks')) as Methods;
    try {
      const value = await (method in store ? store : own)[method]?.(...args);
      return Response.json({ value });
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
