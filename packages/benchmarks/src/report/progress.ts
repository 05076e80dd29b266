/** Turns done of those to be done, on one line of a terminal; nothing where there is none. */
export function progress(part: string, turns: number): { onTurn(): void; done(): void } {
  const { stderr } = process;
  let done = 0;
  const show = (line: string) => {
    if (stderr.isTTY) stderr.write(`\r\u001b[K${line}`);
  };
  return {
    onTurn: () => {
      show(`${part}: ${++done} of ${turns}`);
    },
    done: () => {
      show('');
    },
  };
}
