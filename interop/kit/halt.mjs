/** Preloaded into a process that is to be killed: it stands still soon after the acknowledgement that the kill waits for. */
const most = Number(process.env.WINDROW_KILLED_AFTER) + Math.floor(Math.random() * 4);
const { stdout } = process;
const write = stdout.write.bind(stdout);
let acknowledged = 0;

stdout.write = (chunk, ...rest) => {
  const written = write(chunk, ...rest);
  acknowledged += String(chunk).startsWith("ack ") ? 1 : 0;
  if (acknowledged >= most) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return written;
};
