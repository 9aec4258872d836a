"""Pairs of questions and answers by which a model is measured: see fusion.measure.

Few words are in both; any question and the answer to another one have nothing to do with each
other.
"""

PROBE = "The quick brown fox jumps over the lazy dog. 敏捷的棕色狐狸。"
LATIN = (
    ("Where does the dog sleep?", "The puppy has its bed under the stairs."),
    ("When do I have to pay the landlord?", "Rent is due on the first of each month."),
    ("Which programming language is the server written in?", "The backend runs on Go."),
    ("What did she cook for the party?", "Anna made lasagne for all the guests."),
    ("Is he allowed to eat nuts?", "Tom has a peanut allergy."),
    ("How do we get to the airport?", "The train to the terminal leaves from platform nine."),
    ("What sport did he take up?", "Since spring he plays tennis twice a week."),
    ("Why was she sad?", "Her grandmother passed away last night."),
    ("Who repairs the car?", "The mechanic in Mill Street fixes our van."),
    ("What does he do for a living?", "He works as a nurse in a hospital."),
    ("Which film did they watch?", "We saw a thriller at the cinema."),
    ("How warm is it outside?", "The thermometer shows thirty degrees in the garden."),
)
OTHER = (
    ("狗睡在哪里？", "小犬的窝放在楼梯下面。"),
    ("什么时候要给房东钱？", "每月一号交租金。"),
    ("服务器用什么编程语言写的？", "后端跑在Go上。"),
    ("她为聚会做了什么菜？", "安娜给客人们烤了千层面。"),
    ("他能吃坚果吗？", "汤姆对花生过敏。"),
    ("我们怎么去机场？", "开往航站楼的火车从九号站台出发。"),
    ("他开始练什么运动？", "从春天起他每周打两次网球。"),
    ("她为什么难过？", "奶奶昨晚去世了。"),
    ("谁来修车？", "磨坊街的技师在保养我们的面包车。"),
    ("他是做什么工作的？", "他在医院当护士。"),
    ("他们看了哪部电影？", "我们在影院看了一部惊悚片。"),
    ("外面多热？", "花园里的温度计显示三十度。"),
)
