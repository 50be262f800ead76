/**
 * The scripts of a store in Redis. Each is atomic, and checks before its first write: a session is written by the holder
 * whose generation and taking its hash names, and from the place that its hash names. A script may be carried out late, or
 * twice: it changes nothing then.
 */

/**
 * Appends to several sessions. KEYS: of each its hash and the logs that get lines. ARGV: of each generation, taking, head
 * before, revision before, head after, state or "", status, how many logs, how many lines, and then log (its place behind the hash),
 * id and text of each line. Answers two texts for each: `kept`; `fenced` or `moved`, and head and revision; `error`, and the
 * server's words.
 */
export const appendScript = `
local answers, key, at = {}, 1, 1
while key <= #KEYS do
  local logs, lines = tonumber(ARGV[at + 7]), tonumber(ARGV[at + 8])
  local outcome, told = 'kept', ''
  local s = redis.call('HMGET', KEYS[key], 'generation', 'taking', 'head', 'revision')
  if s[1] ~= ARGV[at] or (s[2] or '') ~= ARGV[at + 1] then outcome = 'fenced'
  elseif s[3] ~= ARGV[at + 2] or (s[4] or '0') ~= ARGV[at + 3] then outcome = 'moved'
  else
    for i = at + 9, at + 8 + 3 * lines, 3 do
      local added = redis.pcall('XADD', KEYS[key + tonumber(ARGV[i])], ARGV[i + 1], 'line', ARGV[i + 2])
      if type(added) == 'table' and added.err then
        outcome, told = 'error', added.err
        break
      end
    end
    if outcome == 'kept' then
      local fields = { 'head', ARGV[at + 4], 'revision', string.format('%.0f', ARGV[at + 3] + 1) }
      if ARGV[at + 5] ~= '' then
        for i, value in ipairs({ 'state', ARGV[at + 5], 'status', ARGV[at + 6] }) do fields[4 + i] = value end
      end
      local set = redis.pcall('HSET', KEYS[key], unpack(fields))
      if type(set) == 'table' and set.err then outcome, told = 'error', set.err end
    end
  end
  if outcome == 'fenced' or outcome == 'moved' then told = (s[3] or '') .. ' ' .. (s[4] or '0') end
  answers[#answers + 1] = outcome
  answers[#answers + 1] = told
  key, at = key + 1 + logs, at + 9 + 3 * lines
end
return answers`;

/**
 * KEYS: session, the one of its id in the trash. ARGV: holder, field and value of each other field, and the metadata of the one
 * in the trash, as it was looked at, or "". Answers 0 where another session is there already, and -1 where the trash has another.
 */
export const createScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('HGET', KEYS[1], 'holder') == ARGV[1] and 1 or 0 end
if (redis.call('HGET', KEYS[2], 'metadata') or '') ~= ARGV[#ARGV] then return -1 end
redis.call('HSET', KEYS[1], 'holder', unpack(ARGV, 1, #ARGV - 1))
return 1`;

/**
 * KEYS: session. ARGV: generation and taking before, generation after, holder, worker, taking. Answers head, state and
 * revision, or nothing where another holder took it, or where it was made anew.
 */
export const takeScript = `
local s = redis.call('HMGET', KEYS[1], 'generation', 'head', 'state', 'revision', 'holder', 'taking')
if s[1] == ARGV[1] and (s[6] or '') == ARGV[2] then
  redis.call('HSET', KEYS[1], 'generation', ARGV[3], 'holder', ARGV[4], 'worker', ARGV[5], 'taking', ARGV[6])
elseif s[5] ~= ARGV[4] then return false end
return {s[2], s[3], s[4] or '0'}`;

/**
 * KEYS: session. ARGV: generation, taking. Ends the holding; answers 0 where this holder has it no more. The taking that ended
 * stays known: a session that is made anew under the id, and let go of, is not this one.
 */
export const letGoScript = `
local s = redis.call('HMGET', KEYS[1], 'generation', 'taking')
if s[1] ~= ARGV[1] or (s[2] or '') ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], 'holder', 'worker')
redis.call('HSET', KEYS[1], 'taking', '-' .. ARGV[2])
redis.call('HINCRBY', KEYS[1], 'revision', 1)
return 1`;

/**
 * KEYS: session. ARGV: generation, taking, head, revision, state, status, generation after. Ends the session; answers 0 where
 * this holder has it no more, or where it was written meanwhile. The answer of an end that was carried out is as its first.
 */
export const endScript = `
local s = redis.call('HMGET', KEYS[1], 'generation', 'taking', 'head', 'revision')
if s[1] == ARGV[7] and ARGV[2] ~= '' and s[2] == ARGV[2] then return 1 end
if s[1] ~= ARGV[1] or (s[2] or '') ~= ARGV[2] or s[3] ~= ARGV[3] or (s[4] or '0') ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[5], 'status', ARGV[6], 'generation', ARGV[7])
redis.call('HDEL', KEYS[1], 'holder', 'worker')
return 1`;

/**
 * KEYS: session, logs. ARGV: the mark of the restore, how many lines were added before, and log, id and line of each line.
 * Adds lines to a session that is being restored; answers 0 where it is another, or lacks lines. Lines that are there already
 * are not added again.
 */
export const stageScript = `
local s = redis.call('HMGET', KEYS[1], 'restoring', 'staged')
local staged, after = s[2] or '0', string.format('%.0f', ARGV[2] + (#ARGV - 2) / 3)
if s[1] ~= ARGV[1] then return 0 end
if staged == after then return 1 end
if staged ~= ARGV[2] then return 0 end
for i = 3, #ARGV, 3 do redis.call('XADD', KEYS[1 + tonumber(ARGV[i])], ARGV[i + 1], 'line', ARGV[i + 2]) end
redis.call('HSET', KEYS[1], 'staged', after)
return 1`;

/**
 * KEYS: session. ARGV: the mark of the restore, head, how many lines were added. Shows a session that was restored; it is then
 * the newest taking.
 */
export const showScript = `
local s = redis.call('HMGET', KEYS[1], 'restoring', 'taking', 'staged')
if s[1] ~= ARGV[1] then return (not s[1] and s[2] == ARGV[1]) and 1 or 0 end
if (s[3] or '0') ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[1], 'restoring', 'staged', 'holder', 'worker')
redis.call('HSET', KEYS[1], 'generation', '0', 'head', ARGV[2], 'taking', ARGV[1])
return 1`;

/** KEYS: session, logs. ARGV: the mark of the restore, or "" for any. Removes what a restore left. */
export const dropStagedScript = `
local mark = redis.call('HGET', KEYS[1], 'restoring')
if not mark or (ARGV[1] ~= '' and mark ~= ARGV[1]) then return 0 end
redis.call('UNLINK', unpack(KEYS))
return 1`;

/**
 * KEYS: session, logs. ARGV: generation or "", taking or "", the document's name and text, status, the highest place of the
 * logs. Writes a document anew, unless a process took or made the session meanwhile, or nothing of it is left; a hash that is
 * gone is made again.
 */
export const mendScript = `
if redis.call('EXISTS', unpack(KEYS)) == 0 then return 0 end
local s = redis.call('HMGET', KEYS[1], 'generation', 'taking')
if (s[1] or '') ~= ARGV[1] or (s[2] or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
if ARGV[3] == 'state' then redis.call('HSET', KEYS[1], 'status', ARGV[5]) end
redis.call('HSETNX', KEYS[1], 'generation', '0')
redis.call('HSETNX', KEYS[1], 'head', ARGV[6])
return 1`;

/**
 * KEYS: session, logs. ARGV: generation, taking, the mark by which it is kept, head, revision.
 * Removes a session; answers how many keys there were, or -1 where a process took it, wrote it or marked it meanwhile.
 */
export const removeScript = `
local s = redis.call('HMGET', KEYS[1], 'generation', 'taking', 'kept', 'head', 'revision')
for i = 1, 5 do if (s[i] or '') ~= ARGV[i] and redis.call('EXISTS', KEYS[1]) == 1 then return -1 end end
return redis.call('UNLINK', unpack(KEYS))`;

/** KEYS: session, a list. ARGV: id. Takes a session that is not there from the list. */
export const unlistScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])`;

/**
 * KEYS: a hash of names. ARGV: id, text. Names a session. A server whose memory is full lets a script go on whose first write
 * takes away: without a name nothing could be erased there.
 */
export const nameScript = `
redis.call('HDEL', KEYS[1], ARGV[1])
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`;

/** KEYS: a heartbeat. ARGV: the time, how long it is kept. Begins as the naming does: who lives is heard at a full server. */
export const beatScript = `
redis.call('DEL', KEYS[1])
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`;

/** KEYS: a hash of names. ARGV: id, text. Forgets a name, unless it is another by now. */
export const forgetScript = `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])`;

/**
 * KEYS: session. ARGV: generation, taking, a name for the raise. Raises the generation, so that its holder writes no more; answers
 * the new one, or nothing where the session is another by now, or is gone.
 */
export const raiseScript = `
local s = redis.call('HMGET', KEYS[1], 'generation', 'taking')
if s[2] == ARGV[3] then return s[1] end
if redis.call('EXISTS', KEYS[1]) == 0 or (s[1] or '') ~= ARGV[1] or (s[2] or '') ~= ARGV[2] then return false end
redis.pcall('HINCRBY', KEYS[1], 'generation', 1)
redis.call('HSET', KEYS[1], 'taking', ARGV[3])
return redis.call('HGET', KEYS[1], 'generation')`;

/**
 * KEYS: session, aside, the owners of such lists. ARGV: generation, taking, text, the name of the owner or "". Puts a text aside,
 * unless it is the last there; answers 0 where the session is another by now.
 */
export const asideScript = `
local s = redis.call('HMGET', KEYS[1], 'generation', 'taking')
if (s[1] or '') ~= ARGV[1] or (s[2] or '') ~= ARGV[2] then return 0 end
if redis.call('LINDEX', KEYS[2], -1) ~= ARGV[3] then redis.call('RPUSH', KEYS[2], ARGV[3]) end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[4], '') end
return 1`;

/**
 * KEYS: session. ARGV: the mark by which it is kept or "", and as it was looked at: how often it was marked, mark, taking; a name
 * for this marking. Marks a session, or takes the mark away; answers 0 where the session is gone, and -1 where it is another by now, or was
 * marked since.
 */
export const markScript = `
local s = redis.call('HMGET', KEYS[1], 'metadata', 'marks', 'kept', 'taking', 'marking')
if not s[1] then return 0 end
if s[5] == ARGV[5] then return 1 end
local marks, kept = s[2] or '0', s[3] or ''
if marks ~= ARGV[2] or kept ~= ARGV[3] or (s[4] or '') ~= ARGV[4] then return -1 end
if ARGV[1] == '' then redis.call('HDEL', KEYS[1], 'kept') else redis.call('HSET', KEYS[1], 'kept', ARGV[1]) end
redis.call('HINCRBY', KEYS[1], 'marks', 1)
redis.call('HSET', KEYS[1], 'marking', ARGV[5])
return 1`;

/**
 * KEYS: those to move, then those to move to. ARGV: a name for this move, `trash` where it goes there; generation, taking and
 * status as they were looked at. Moves a session where the places are free; answers 0 where one is taken, -1 where a kept one
 * would go to the trash, and -2 where it is another by now. The answer of a move that was carried out is as its first.
 */
export const moveScript = `
local half = #KEYS / 2
local there = redis.call('EXISTS', KEYS[1 + half]) == 1
if redis.call('EXISTS', KEYS[1]) == 0 then
  return (there and redis.call('HGET', KEYS[1 + half], 'taking') == ARGV[1]) and 1 or 0
end
if there then return 0 end
local s = redis.call('HMGET', KEYS[1], 'generation', 'taking', 'status')
for i = 1, 3 do if (s[i] or '') ~= ARGV[2 + i] then return -2 end end
if ARGV[2] == 'trash' and redis.call('HEXISTS', KEYS[1], 'kept') == 1 then return -1 end
for i = 1, half do if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('RENAME', KEYS[i], KEYS[half + i]) end end
redis.call('HSET', KEYS[1 + half], 'taking', ARGV[1])
return 1`;

/**
 * KEYS: session, log. ARGV: the name of its making or "", a command that reads a log, what stands behind its key. Answers as the
 * command does, or nothing where the session is gone, or was made anew.
 */
export const readScript = `
if redis.call('EXISTS', KEYS[1]) == 0 or (redis.call('HGET', KEYS[1], 'made') or '') ~= ARGV[1] then return false end
return redis.call(ARGV[2], KEYS[2], unpack(ARGV, 3))`;
