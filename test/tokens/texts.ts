/** Texts the counters are tested on: paragraphs of our own in many scripts, and rows from a fixed seed. */
import { createHash } from "node:crypto";

/** One paragraph a language, about the same thing: an agent that works on a repository. */
export const paragraphs: Readonly<Record<string, string>> = {
  "english":
    "The agent opened the project, read the failing test and found that the parser dropped the last line of every file. " +
    "It changed two functions, ran the whole suite again, and wrote a short note about what it had learned for the next day.",
  "german":
    "Der Agent öffnete das Projekt, las den fehlgeschlagenen Test und stellte fest, dass der Parser die letzte Zeile jeder " +
    "Datei verschluckte. Er änderte zwei Funktionen, führte alle Prüfungen noch einmal aus und schrieb eine kurze Notiz.",
  "french":
    "L'agent a ouvert le projet, lu le test en échec et constaté que l'analyseur perdait la dernière ligne de chaque " +
    "fichier. Il a modifié deux fonctions, relancé toute la suite et rédigé une brève note pour le lendemain.",
  "russian":
    "Агент открыл проект, прочитал упавший тест и обнаружил, что парсер теряет последнюю строку каждого файла. Он изменил " +
    "две функции, снова запустил все проверки и написал короткую заметку о том, что узнал за день.",
  "greek":
    "Ο πράκτορας άνοιξε το έργο, διάβασε τη δοκιμή που απέτυχε και διαπίστωσε ότι ο αναλυτής έχανε την τελευταία γραμμή " +
    "κάθε αρχείου. Άλλαξε δύο συναρτήσεις, έτρεξε ξανά όλες τις δοκιμές και έγραψε μια σύντομη σημείωση.",
  "hebrew":
    "הסוכן פתח את הפרויקט, קרא את הבדיקה שנכשלה וגילה שהמנתח מאבד את השורה האחרונה של כל קובץ. הוא שינה שתי פונקציות, " +
    "הריץ שוב את כל הבדיקות וכתב הערה קצרה על מה שלמד.",
  "arabic":
    "فتح الوكيل المشروع وقرأ الاختبار الفاشل ووجد أن المحلل يفقد السطر الأخير من كل ملف. ثم عدل دالتين وشغل جميع " +
    "الاختبارات مرة أخرى وكتب ملاحظة قصيرة عما تعلمه في ذلك اليوم.",
  "hindi":
    "एजेंट ने परियोजना खोली, विफल परीक्षण पढ़ा और पाया कि पार्सर हर फ़ाइल की अंतिम पंक्ति छोड़ देता है। उसने दो फ़ंक्शन बदले, " +
    "सभी परीक्षण फिर से चलाए और अगले दिन के लिए एक छोटी टिप्पणी लिखी।",
  "thai":
    "เอเจนต์เปิดโครงการ อ่านการทดสอบที่ล้มเหลว และพบว่าตัวแยกวิเคราะห์ทำบรรทัดสุดท้ายของทุกไฟล์หายไป จากนั้นแก้ไขสองฟังก์ชัน " +
    "รันการทดสอบทั้งหมดอีกครั้ง และเขียนบันทึกสั้น ๆ เกี่ยวกับสิ่งที่ได้เรียนรู้",
  "japanese":
    "エージェントはプロジェクトを開き、失敗したテストを読んで、パーサーがすべてのファイルの最後の行を落としていることを見つけました。" +
    "そこで二つの関数を直し、テストをもう一度すべて実行して、その日に学んだことを短いメモに残しました。",
  "chinese simplified":
    "代理打开了项目，阅读了失败的测试，发现解析器丢掉了每个文件的最后一行。它修改了两个函数，重新运行了全部测试，" +
    "然后写了一段简短的说明，记录当天学到的内容，并把结果发给了负责这个模块的同事。",
  "chinese traditional":
    "代理程式開啟了專案，閱讀了失敗的測試，發現解析器漏掉了每個檔案的最後一行。它修改了兩個函式，重新執行了全部測試，" +
    "然後寫了一段簡短的說明，記錄當天學到的內容，並把結果傳給負責這個模組的同事。",
  "korean":
    "에이전트는 프로젝트를 열고 실패한 테스트를 읽은 뒤, 파서가 모든 파일의 마지막 줄을 빠뜨린다는 사실을 알아냈습니다. 함수 두 개를 " +
    "고치고 전체 테스트를 다시 실행한 다음, 그날 배운 내용을 짧은 메모로 남겼습니다.",
};

const emoji = "😀 🚀 ✅ 🔥 🎉 📦 🧪 🔧 🤖 😂 💡 📝 🌍 📈 🦀 👍".split(" ");

/** Rows as tools print them, a dozen messages of about 2,000 characters each, the same on every run. */
export const rows: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({
    "uuid": (seed: string) => hex(seed).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, "$1-$2-$3-$4-$5"),
    "sha256": (seed: string) => `${hex(seed)}  dist/chunk-${hex(seed).slice(0, 8)}.js`,
    "base64": (seed: string) => Buffer.from(hex(seed) + hex(`${seed}b`).slice(0, 32), "hex").toString("base64"),
    "log": (seed: string) =>
      `2025-03-${10 + (seed.length % 9)}T0${seed.length % 9}:11:${10 + (parseInt(hex(seed).slice(0, 4), 16) % 49)}.201Z ` +
      `WARN http-server: GET /v2/accounts/${parseInt(hex(seed).slice(0, 4), 16)} took ${hex(seed).charCodeAt(5)} ms`,
    "json rows": (seed: string) =>
      JSON.stringify({
        key: hex(seed).slice(0, 24),
        mail: `${hex(seed).slice(0, 5)}@example.org`,
        paid: true,
        total: seed.length,
      }),
    "indented": (seed: string) =>
      `${" ".repeat(4 * (parseInt(hex(seed)[0] ?? "0", 16) % 8))}return compute(total, ${seed.length});`,
    "emoji": (seed: string) =>
      `${Array.from(hex(seed).slice(0, 6), (digit) => emoji[parseInt(digit, 16)]).join("")} done`,
  }).map(([kind, write]) => [kind, Array.from({ length: 12 }, (_, index) => message(write, String(index)))]),
);

function message(write: (seed: string) => string, name: string): string {
  let text = "";
  for (let row = 0; text.length < 2_000; row++) text += `${write(`${name}.${row}`)}\n`;
  return text;
}

function hex(seed: string): string {
  return createHash("sha256").update(seed).digest("hex");
}
