/** Real forms of foreign text, made up for the tests: command lines, settings, patches, dumps, listings, mails. */
import { secretRules } from "../kit/inside/mask.ts";

const value = "q7Zt2LmX9vKc4RbN";

/** A command line, setting or header for each keyword of the mask's rules. A new rule is covered by its keywords. */
const keywordForms: readonly string[] = [...new Set(secretRules.flatMap(({ keywords }) => keywords))].flatMap(
  (keyword) => [`curl https://h.example${keyword}ann:${value} x`, `${keyword}"${value}" = '${value}'`],
);

/** Command lines whose options, quotes and pipes the mask reads. */
export const commandLines: readonly string[] = [
  `curl https://api.example/v1 -u ann:${value} -d a=1`,
  `curl -u "ann:${value}" https://api.example`,
  `echo "ann:${value}" | sudo chpasswd`,
  `mysql -u root -p${value} -e 'select 1'`,
  `sshpass -p '${value}' ssh ann@h.example`,
  `docker login -u ann -p ${value} registry.example`,
  `redis-cli -a ${value} ping`,
  `htpasswd -bc -C 5 users.txt ann ${value}`,
  `openssl rsa -passin pass:${value} -in key.pem`,
  `smbclient -U ann%${value} //h.example/share`,
  `psql postgres://ann:${value}@h.example:5432/db`,
  `h.example:5432:db:ann:${value}\n`,
  `net use z: \\\\h\\s /user:ann ${value}`,
  `ALTER USER ann IDENTIFIED BY '${value}';`,
  `aws configure set aws_secret_access_key ${value}`,
  `Authorization: Basic YW5uOnE3WnQyTG1YOXZLYzRSYk4=\r\nCookie: sid=${value}\r\n`,
];

/** Settings in the syntaxes of configuration files. */
const settings: readonly string[] = [
  `db:\n  password: ${value}\n  api_key: "${value}"\n`,
  `DB_PASSWORD=${value}\nexport TOKEN='${value}'\n`,
  `{"auths":{"h":{"auth":"YW5uOnE3WnQyTG1YOXZLYzRSYk4="}},"password":"${value}"}`,
  `[a]\nsecret = "${value}" ; x\n<add key="Pwd" value="${value}"/>\n`,
  `-----BEGIN PRIVATE KEY-----\n${value.repeat(4)}\n-----END PRIVATE KEY-----\n`,
  `apiVersion: v1\nkind: Secret\ndata:\n  token: cTdadDJMbVg5dktjNFJiTg==\n`,
  `\u001b[32mpassword\u001b[0m: ${value}\n`,
];

/** Texts with secrets, which the mask reads. */
export const maskedForms: readonly string[] = [...keywordForms, ...commandLines, ...settings];

/** Patches, scripts and here-documents that an agent hands to its tools. */
export const toolForms: readonly string[] = [
  "*** Begin Patch\n*** Update File: src/a.ts\n@@ function a() {\n-  return 1;\n+  return 2;\n*** Move to: src/b.ts\n*** Add File: c.md\n+# C\n*** Delete File: d.md\n*** End Patch",
  "--- a/src/a.ts\t2026-01-01\n+++ b/src/a.ts\n@@ -1,3 +1,4 @@ class A\n a\n-b\n+c\n+d\n e\n\\ No newline at end of file\n",
  "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\nGIT binary patch\nliteral 3\nKcmZ\n",
  "src/a.ts\n<<<<<<< SEARCH\nconst a = 1;\n=======\nconst a = 2;\n>>>>>>> REPLACE\n",
  'cat > src/a.py <<\'EOF\'\nprint("a")\nEOF\nsed -n \'10,20p\' src/a.py | head -5 && grep -n "x y" -r src/ > out.txt 2>&1; cd "$(dirname "$0")"',
  "python3 - <<PY\nfrom pathlib import Path\np = Path('a/b.txt')\np.write_text(p.read_text().replace(\"one\", '''two'''))\nPY",
  "sed -i -e 's/a\\/b/c\\&d/g' -e '3,5d' \"my file.txt\"; awk 'NR>=2 && NR<=4 {print $1}' a.csv; perl -0pi -e 's/x/y/' z",
  "bash -lc 'cd /srv/app && git show HEAD:src/a.ts | nl -ba | sed -n \"1,40p\"'",
  "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** End Patch\nP",
  "Get-Content -Path C:\\a\\b.txt -TotalCount 5 | Select-String -Pattern 'x'; type a.txt & more < b.txt",
];

/** Results of tools and pages. */
export const resultForms: readonly string[] = [
  "     1→import a from 'b';\n     2→\n    10→export const c = 1;\n",
  '<file path="src/a.ts">\n00001| const a = 1;\n00002| const b = 2;\n</file>\n(File has more lines)',
  "src/a.ts:12:34: error TS2322: Type 'x'\nsrc/b.ts-13-  const y = 1;\n--\nsrc/c.ts:7:x\n",
  "Exit code: 1\nWall time: 0.2 seconds\nTotal output lines: 3\nOutput:\nsrc/a.ts\nsrc/b.ts\n",
  '{"output":"a\\nb","metadata":{"exit_code":0,"duration_seconds":0.1}}',
  '{"id":"C-2","tier":"gold","items":[{"sku":"x","n":1.50},null,true],"note":"moved to \\u00e9 \\ud83d\\ude00"}',
  'id,name,limit\n1,"a, b",30\n2,c,40\n\n| key | value |\n|---|---|\n| retries | 3 |\n',
  "From: Ann <ann@h.example>\nSubject: Re: limit\nDate: Tue, 3 Mar 2026 10:00:00 +0100\n\n> The limit is 3.\nIt is not 3; it is 5. It moved to 7, instead of 5.\n",
  "# Changes\n\n## 1.2.0\n- the port is now 8081, no longer 8080\n\n```ts\nconst port = 8081; // was 8080\n```\n訂正：期限は3日ではなく5日です。更正：改为 8081。\n",
  'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    x()\nValueError: bad\n[truncated: 120 more lines]\n',
  '<html><body><div id="a" onclick="x"><button aria-label="Send">Send</button><input type="text" value="v"/></div></body></html>',
  '[{"role":"AXWindow","title":"Mail","children":[{"role":"AXButton","title":"Send","id":"7","frame":{"x":1,"y":2}}]}]',
  '- document [ref=e1]:\n  - button "Send" [ref=e2] [cursor=pointer]\n  - textbox "To": ann\n',
  '[12]<button aria-label="Send">Send</button>\n\t[13]<a href=/x>x</a>\nuid=1_2 link "x" url="https://h.example/"\n',
  '[recalled: m12, lines 3 to 9]\n> quoted | text\n[m17] a line\n[+12 lines left out; recall({ id: "m17" })]\n',
  "<system-reminder>\nx\n</system-reminder>\n<environment_context><cwd>/srv</cwd></environment_context>",
];

/** Server-sent events and bodies of providers' answers. */
export const answerForms: readonly string[] = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":3,"cache_creation":{"ephemeral_1h_input_tokens":1}}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"ls","input":{}}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}\n\nevent: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  'data: {"id":"c","model":"g","choices":[{"index":0,"delta":{"role":"assistant","content":"hi","tool_calls":[{"index":0,"id":"c1","function":{"name":"ls","arguments":"{}"}}]}}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\ndata: [DONE]\n\n',
  'event: response.output_item.done\ndata: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}}\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"id":"r","output":[],"usage":{"input_tokens":1,"output_tokens":2}}}\n\n',
  'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hi"},{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"AA=="}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}\r\n\r\n',
  '{"model":"l","message":{"role":"assistant","content":"hi","tool_calls":[{"function":{"name":"ls","arguments":{}}}]},"done":false}\n{"model":"l","done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":1}\n',
  '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
  '{"error":{"message":"This model\'s maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}',
];

/** Requests as clients send them, by the path that they are sent to. */
export const requestForms: readonly (readonly [path: string, body: string])[] = [
  [
    "/v1/messages",
    '{"model":"c","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"t1","name":"ls","input":{"a":[1]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"is_error":true}]}],"tools":[{"name":"ls","input_schema":{"type":"object"}}],"stream":true}',
  ],
  [
    "/v1/chat/completions",
    '{"model":"g","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\\"a\\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}],"tools":[{"type":"function","function":{"name":"ls","parameters":{}}}]}',
  ],
  [
    "/v1/responses",
    '{"model":"g","instructions":"s","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"reasoning","id":"r","summary":[],"encrypted_content":"e"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"}]}',
  ],
  [
    "/v1beta/models/gemini-3:generateContent",
    '{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"AA=="}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]}],"systemInstruction":{"parts":[{"text":"s"}]}}',
  ],
  [
    "/api/chat",
    '{"model":"l","messages":[{"role":"user","content":"a","images":["AAAA"]},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"ls","arguments":{"a":1}}}]},{"role":"tool","tool_name":"ls","content":"x"}]}',
  ],
];
