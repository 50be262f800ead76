/**
 * The scripts of a store in Redis. Each is atomic, and checks before its first write: a session is written by the holder
 * whose generation its hash names, and from the place that its hash names.
 */

/**
 * Appends to several sessions. KEYS: of each its hash and the logs that get lines. ARGV: of each generation, head before,
 * head after, state or "", status, how many logs, how many lines, and then log (its place behind the hash), id and text of
 * each line. Answers two texts for each: `kept`; `fenced` or `moved`, and the head; `error`, and the server's words.
 */
export const appendScript = `
local answers, key, at = {}, 1, 1
while key <= #KEYS do
  local logs, lines = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
  local outcome, told = 'kept', ''
  local s = redis.call('HMGET', KEYS[key], 'generation', 'head')
  if s[1] ~= ARGV[at] then outcome, told = 'fenced', s[2] or ''
  elseif s[2] ~= ARGV[at + 1] then outcome, told = 'moved', s[2] or ''
  else
    for i = at + 7, at + 6 + 3 * lines, 3 do
      local added = redis.pcall('XADD', KEYS[key + tonumber(ARGV[i])], ARGV[i + 1], 'line', ARGV[i + 2])
      if type(added) == 'table' and added.err then
        outcome, told = 'error', added.err
        break
      end
    end
    if outcome == 'kept' then
      local fields = { 'head', ARGV[at + 2] }
      if ARGV[at + 3] ~= '' then fields = { 'head', ARGV[at + 2], 'state', ARGV[at + 3], 'status', ARGV[at + 4] } end
      local set = redis.pcall('HSET', KEYS[key], unpack(fields))
      if type(set) == 'table' and set.err then outcome, told = 'error', set.err end
    end
  end
  answers[#answers + 1] = outcome
  answers[#answers + 1] = told
  key, at = key + 1 + logs, at + 7 + 3 * lines
end
return answers`;

/** KEYS: session. ARGV: field and value of each field. Answers 0 where the session is there already. */
export const createScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1`;

/** KEYS: session. ARGV: generation before, generation after, holder, worker. Answers head and state, or nothing. */
export const takeScript = `
local s = redis.call('HMGET', KEYS[1], 'generation', 'head', 'state')
if s[1] ~= ARGV[1] then return false end
redis.call('HSET', KEYS[1], 'generation', ARGV[2], 'holder', ARGV[3], 'worker', ARGV[4])
return {s[2], s[3]}`;

/** KEYS: session. ARGV: generation, state or "", status. Ends the holding, and the session where a state is given. */
export const letGoScript = `
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'state', ARGV[2], 'status', ARGV[3]) end
redis.call('HDEL', KEYS[1], 'holder', 'worker')
return 1`;

/** KEYS: session, logs. ARGV: log, id and line of each line. Adds lines to a session that is being restored. */
export const stageScript = `
if redis.call('HGET', KEYS[1], 'restoring') ~= ARGV[1] then return 0 end
for i = 2, #ARGV, 3 do redis.call('XADD', KEYS[1 + tonumber(ARGV[i])], ARGV[i + 1], 'line', ARGV[i + 2]) end
return 1`;

/** KEYS: session. ARGV: the mark of the restore, head. Shows a session that was restored. */
export const showScript = `
if redis.call('HGET', KEYS[1], 'restoring') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'restoring', 'holder', 'worker')
redis.call('HSET', KEYS[1], 'generation', '0', 'head', ARGV[2])
return 1`;

/** KEYS: session, logs. ARGV: the mark of the restore, or "" for any. Removes what a restore left. */
export const dropStagedScript = `
local mark = redis.call('HGET', KEYS[1], 'restoring')
if not mark or (ARGV[1] ~= '' and mark ~= ARGV[1]) then return 0 end
redis.call('UNLINK', unpack(KEYS))
return 1`;

/**
 * KEYS: session. ARGV: generation or "", the document's name and text, status, the highest place of the logs. Writes a
 * document anew, unless a process took the session meanwhile; a hash that is gone is made again.
 */
export const mendScript = `
if (redis.call('HGET', KEYS[1], 'generation') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if ARGV[2] == 'state' then redis.call('HSET', KEYS[1], 'status', ARGV[4]) end
redis.call('HSETNX', KEYS[1], 'generation', '0')
redis.call('HSETNX', KEYS[1], 'head', ARGV[5])
return 1`;

/** KEYS: those to move, then those to move to. Moves a session where the places are free; answers 0 where one is taken. */
export const moveScript = `
local half = #KEYS / 2
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[1 + half]) == 1 then return 0 end
for i = 1, half do if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('RENAME', KEYS[i], KEYS[half + i]) end end
return 1`;
