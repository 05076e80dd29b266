/** A clock of the receiver that follows the one of the simulator, which the tour advances. */
export function followingClock() {
  let simulator: string | undefined;
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    /** @param url the URL of the simulator */
    follow(url: string): void {
      simulator = url;
    },
    async sync(): Promise<void> {
      if (simulator === undefined) return;
      const { now } = (await (await fetch(`${simulator}/_sim/clock`)).json()) as { now: number };
      ahead = now - Date.now();
    },
  };
}
