import pc from 'picocolors';

const { FORCE_COLOR, NO_COLOR } = process.env;
const isTerminal = ({ isTTY }: { isTTY?: boolean }) => isTTY ?? false;

/** Colors on a terminal, none in a pipe. (By default, picocolors also uses colors if CI is set.) */
export const ink = pc.createColors(
  NO_COLOR ? false : FORCE_COLOR ? true : isTerminal(process.stdout),
);
